//! Output that a tool supplies at once, when it completes.

use bytes::Bytes;

use crate::declaration::OutputDeclaration;
use crate::stream::StreamName;

/// The whole output of a tool that did not stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FullOutput {
    /// No output: every declared channel is empty.
    Empty,
    /// The single output.
    Single(Bytes),
    /// Every declared stream exactly once, in any order.
    Named(Vec<(StreamName, Bytes)>),
}

impl OutputDeclaration {
    /// Brings a full output into declaration order, one entry a channel.
    ///
    /// # Errors
    /// [`FullOutputError`] where the output does not fit the declaration.
    pub fn arrange(&self, output: FullOutput) -> Result<Vec<Bytes>, FullOutputError> {
        match (self, output) {
            (_, FullOutput::Empty) => Ok(vec![Bytes::new(); self.channels()]),
            (Self::Single, FullOutput::Single(bytes)) => Ok(vec![bytes]),
            (Self::Single, FullOutput::Named(_)) => Err(FullOutputError::NamedForSingle),
            (Self::Named(_), FullOutput::Single(_)) => Err(FullOutputError::SingleForNamed),
            (Self::Named(names), FullOutput::Named(given)) => {
                let mut arranged: Vec<Option<Bytes>> = vec![None; names.as_slice().len()];
                for (stream, bytes) in given {
                    let Some(index) = self.index_of(Some(&stream)) else {
                        return Err(FullOutputError::UndeclaredStream { stream });
                    };
                    if arranged[index].replace(bytes).is_some() {
                        return Err(FullOutputError::Duplicate { stream });
                    }
                }
                let missing = arranged.iter().position(Option::is_none);
                match missing {
                    Some(index) => {
                        Err(FullOutputError::Missing { stream: names.as_slice()[index].clone() })
                    }
                    None => Ok(arranged.into_iter().flatten().collect()),
                }
            }
        }
    }
}

/// Why a full output does not fit its declaration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FullOutputError {
    /// Named streams for a tool that declared a single output.
    #[error("the tool declared a single output, not named streams")]
    NamedForSingle,
    /// A single output for a tool that declared named streams.
    #[error("the tool declared named streams, not a single output")]
    SingleForNamed,
    /// A stream that was not declared.
    #[error("stream {stream} is not declared")]
    UndeclaredStream {
        /// The name given.
        stream: StreamName,
    },
    /// A stream given twice.
    #[error("stream {stream} is given twice")]
    Duplicate {
        /// The name given.
        stream: StreamName,
    },
    /// A declared stream that was not given.
    #[error("declared stream {stream} is missing; give an empty one if it has no output")]
    Missing {
        /// The declared name.
        stream: StreamName,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_output_is_brought_into_declaration_order() {
        let declaration = OutputDeclaration::named(["a", "b"]).unwrap();
        let entry = |name: &str, bytes: &'static str| (name.parse().unwrap(), bytes.into());
        let arrange = |entries| declaration.arrange(FullOutput::Named(entries));

        assert_eq!(
            arrange(vec![entry("b", "2"), entry("a", "")]).unwrap(),
            [Bytes::new(), Bytes::from("2")]
        );
        assert!(matches!(arrange(vec![entry("a", "1")]), Err(FullOutputError::Missing { .. })));
        assert!(matches!(
            arrange(vec![entry("a", "1"), entry("a", "2")]),
            Err(FullOutputError::Duplicate { .. })
        ));
        assert!(matches!(
            arrange(vec![entry("a", "1"), entry("c", "2")]),
            Err(FullOutputError::UndeclaredStream { .. })
        ));
        assert_eq!(
            declaration.arrange(FullOutput::Single("x".into())),
            Err(FullOutputError::SingleForNamed)
        );
        assert_eq!(
            OutputDeclaration::Single.arrange(FullOutput::Named(vec![])),
            Err(FullOutputError::NamedForSingle)
        );
        assert_eq!(declaration.arrange(FullOutput::Empty).unwrap().len(), 2);
    }
}
