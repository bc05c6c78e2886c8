# This file is a tool-info module for BenchExec: how to run `pleach verify` on a task, and what its answer is.
#
#   PYTHONPATH=share/pleach benchexec benchmark.xml --tool-directory DIR, where <benchmark tool="benchexec_pleach.pleach">

import re

import benchexec.result as result
import benchexec.tools.template


def is_to_cover(property_file):
    """Whether a property is one of Test-Comp."""
    try:
        with open(property_file, encoding="utf-8") as text:
            return "COVER" in text.read()
    except (OSError, TypeError):
        return False


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
        verb = "test" if is_to_cover(task.property_file) else "verify"
        command = [executable, verb, *task.input_files_or_identifier]
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
        return [*command, *options]

    def determine_result(self, run):
        """The last line is the answer as SV-COMP writes it."""
        if run.was_timeout:
            return result.RESULT_TIMEOUT
        if "test" in run.cmdline[:2]:
            # Tests are written in all three cases. A status that is not 0 makes BenchExec an error of `done` alone.
            ends = {0: result.RESULT_DONE, 1: "done (errors found)", 3: "done (not everything explored)"}
            return ends.get(run.exit_code.value, result.RESULT_ERROR)
        answer = next((line.strip() for line in reversed(run.output) if line.strip()), "")
        if answer == "true":
            return result.RESULT_TRUE_PROP
        if answer == "unknown":
            return result.RESULT_UNKNOWN
        violated = re.fullmatch(r"false(\((.+)\))?", answer)
        if violated:
            return f"{result.RESULT_FALSE_PROP}({violated[2]})" if violated[2] else result.RESULT_FALSE_PROP
        return result.RESULT_ERROR
