//! What the supervisor says to the process that started it.

use std::fmt;

/// What may be refused while a run is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Namespaces, when the supervisor is made.
    Namespaces,
    /// A user of its own.
    User,
    /// A file system of its own.
    Files,
    /// `/proc` of the own processes only.
    Processes,
    /// Giving up privileges.
    Privileges,
    /// Limits on what is used.
    Limits,
    /// The filter of system calls.
    SystemCalls,
    /// A new process.
    Fork,
    /// Starting the program itself.
    Execute,
}

impl Step {
    const ALL: [Step; 9] = [
        Step::Namespaces,
        Step::User,
        Step::Files,
        Step::Processes,
        Step::Privileges,
        Step::Limits,
        Step::SystemCalls,
        Step::Fork,
        Step::Execute,
    ];
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Step::Namespaces => "namespaces of its own",
            Step::User => "a user of its own",
            Step::Files => "a file system of its own",
            Step::Processes => "a /proc of its own",
            Step::Privileges => "giving up privileges",
            Step::Limits => "limits on what it uses",
            Step::SystemCalls => "a filter of system calls",
            Step::Fork => "a process of its own",
            Step::Execute => "the program itself",
        })
    }
}

/// One message: a tag and a number, in eight bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Message {
    /// A step failed, with this error number.
    Refused(Step, i32),
    /// The program exited.
    Exited(i32),
    /// A signal ended it.
    Killed(i32),
}

impl Message {
    pub fn to_bytes(self) -> [u8; 8] {
        let (tag, number) = match self {
            Message::Exited(code) => (100, code),
            Message::Killed(signal) => (101, signal),
            Message::Refused(step, errno) => (step as u8, errno),
        };
        let number = number.to_le_bytes();
        [tag, 0, 0, 0, number[0], number[1], number[2], number[3]]
    }

    /// The first of the messages in `text`: that a step failed comes before the end which follows from it.
    pub fn first(text: &[u8]) -> Option<Self> {
        let (first, _) = text.split_first_chunk::<8>()?;
        let number = i32::from_le_bytes([first[4], first[5], first[6], first[7]]);
        match first[0] {
            100 => Some(Message::Exited(number)),
            101 => Some(Message::Killed(number)),
            step => Step::ALL.get(usize::from(step)).map(|step| Message::Refused(*step, number)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_back() {
        let refused = Step::ALL.map(|step| Message::Refused(step, 13));
        for message in refused.into_iter().chain([Message::Exited(255), Message::Killed(9)]) {
            assert_eq!(Message::first(&message.to_bytes()), Some(message));
        }
        assert_eq!(Message::first(b""), None);
    }
}
