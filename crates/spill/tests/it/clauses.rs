//! A backend in memory, right or with one defect, under the suite.

use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use spill::conformance::{self, Harness};
use spill::{SaveText, SpillError, SpillLocator, SpillRef, SpillStore, encode_name};

const HINT: &str = "Ask for it.";

/// What a backend may get wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Defect {
    None,
    LossyBytes,
    NameAsLocator,
    SessionIgnored,
    WrongSize,
    EmptyHint,
    TwoLineHint,
    BoundTooSmall,
    RawNames,
    LeavesPart,
    SavesAlthoughFailing,
}

#[derive(Debug)]
struct Shelf {
    defect: Defect,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    texts: Vec<(String, String)>,
    failing: bool,
}

impl Shelf {
    fn new(defect: Defect) -> Self {
        Self { defect, state: Mutex::default() }
    }

    fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[async_trait]
impl SpillStore for Shelf {
    async fn save_text(&self, text: SaveText) -> Result<SpillRef, SpillError> {
        let SaveText { owner, suggested_name, mut content, .. } = text;
        let bytes = content.len() as u64 + u64::from(self.defect == Defect::WrongSize);
        let name = match self.defect {
            Defect::RawNames => suggested_name,
            _ => encode_name(&suggested_name),
        };
        let locator = self.with(|state| {
            let locator = match self.defect {
                Defect::NameAsLocator => format!("{}/{name}", owner.session),
                Defect::SessionIgnored if owner.session.as_str().len() == 1 => name,
                _ => format!("{:06}/{name}", state.texts.len()),
            };
            if state.failing && self.defect != Defect::SavesAlthoughFailing {
                if self.defect == Defect::LeavesPart {
                    content.truncate(content.len() / 2);
                    state.texts.push((locator, content));
                }
                return Err(SpillError::Backend("as told".into()));
            }
            if self.defect == Defect::LossyBytes {
                content = content.replace("\r\n", "\n");
            }
            state.texts.push((locator.clone(), content));
            Ok(locator)
        })?;
        let locator = SpillLocator::new(locator).map_err(|e| SpillError::Backend(Box::new(e)))?;
        let retrieval_hint = match self.defect {
            Defect::EmptyHint => " ",
            Defect::TwoLineHint => "Ask\nfor it.",
            _ => HINT,
        };
        Ok(SpillRef { locator, bytes, retrieval_hint: retrieval_hint.to_owned() })
    }

    fn max_reference_bytes(&self, suggested_name: &str) -> usize {
        let name = match self.defect {
            Defect::BoundTooSmall => 0,
            Defect::RawNames => suggested_name.len(),
            _ => encode_name(suggested_name).len(),
        };
        "000000/".len() + name + HINT.len()
    }
}

#[async_trait]
impl Harness for Shelf {
    fn store(&self) -> &dyn SpillStore {
        self
    }

    async fn retrieve(&self, locator: &SpillLocator) -> Option<Vec<u8>> {
        self.with(|state| {
            let mut texts = state.texts.iter().rev();
            let found = texts.find(|(found, _)| found == locator.as_str());
            found.map(|(_, content)| content.clone().into_bytes())
        })
    }

    async fn kept(&self) -> Vec<Vec<u8>> {
        self.with(|state| state.texts.iter().map(|(_, text)| text.clone().into_bytes()).collect())
    }

    fn begin_failing(&self) {
        self.with(|state| state.failing = true);
    }

    fn end_failing(&self) {
        self.with(|state| state.failing = false);
    }
}

#[tokio::test]
async fn a_backend_of_a_few_lines_keeps_every_clause() {
    conformance::all(|| Shelf::new(Defect::None)).await;
}

macro_rules! caught {
    ($($defect:ident by $clause:ident),* $(,)?) => {
        #[tokio::test]
        async fn every_defect_is_caught() {
            $({
                let shelf = Shelf::new(Defect::$defect);
                let clause = tokio::spawn(async move { conformance::$clause(&shelf).await });
                let caught = clause.await.is_err_and(|error| error.is_panic());
                assert!(caught, "{:?} is not caught by {}", Defect::$defect, stringify!($clause));
            })*
        }
    };
}

caught! {
    LossyBytes by texts_are_kept_verbatim,
    WrongSize by texts_are_kept_verbatim,
    EmptyHint by texts_are_kept_verbatim,
    TwoLineHint by texts_are_kept_verbatim,
    NameAsLocator by texts_of_one_name_have_locators_of_their_own,
    NameAsLocator by what_was_saved_stays_when_more_is_saved,
    NameAsLocator by saves_at_once_do_not_mix,
    SessionIgnored by sessions_are_kept_apart,
    BoundTooSmall by references_stay_within_their_bound,
    RawNames by any_name_is_taken,
    LeavesPart by a_failed_save_leaves_nothing,
    SavesAlthoughFailing by a_failed_save_leaves_nothing,
}
