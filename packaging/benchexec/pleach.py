# This file is a tool-info module for BenchExec: how to run `pleach verify` on a task, and what its answer is.
#
#   benchexec --tool-directory ... with <benchmarkdefinition tool="pleach">, and this file on PYTHONPATH

import re

import benchexec.result as result
import benchexec.tools.template


class Tool(benchexec.tools.template.BaseTool2):
    """Pleach: symbolic execution and verification of C programs."""

    REQUIRED_PATHS = ["bin", "lib", "share"]

    def executable(self, tool_locator):
        return tool_locator.find_executable("pleach", subdir="bin")

    def name(self):
        return "Pleach"

    def project_url(self):
        return "https://github.com/pleach/pleach"

    def version(self, executable):
        return self._version_from_tool(executable, arg="version", line_prefix="pleach")

    def cmdline(self, executable, options, task, rlimits):
        command = [executable, "verify", *task.input_files_or_identifier]
        if task.property_file:
            command += ["--property", task.property_file]
        model = (task.options or {}).get("data_model")
        if model:
            command += ["--data-model", model]
        if rlimits.walltime:
            # Time to write the witness.
            command += ["--max-time", f"{max(1, int(rlimits.walltime) - 5)}s"]
        if rlimits.memory:
            command += ["--max-memory", str(int(rlimits.memory * 0.9) // 1_000_000)]
        return [*command, "--output-dir", "pleach-run", *options]

    def determine_result(self, run):
        """The last line is the answer as SV-COMP writes it."""
        if run.was_timeout:
            return result.RESULT_TIMEOUT
        answer = next((line.strip() for line in reversed(run.output) if line.strip()), "")
        if answer == "true":
            return result.RESULT_TRUE_PROP
        if answer == "unknown":
            return result.RESULT_UNKNOWN
        violated = re.fullmatch(r"false(\((.+)\))?", answer)
        if violated:
            return f"{result.RESULT_FALSE_PROP}({violated[2]})" if violated[2] else result.RESULT_FALSE_PROP
        return result.RESULT_ERROR
