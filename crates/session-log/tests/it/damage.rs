//! Logs to which something happened: every whole record is still read, and
//! nothing else is.

use output_contract::{EventDiagnostic, HistoryItem, SavedEvent, Timestamp, encode_event};
use proptest::prelude::*;
use serde_json::json;
use session_log::{SessionRecords, SkipReason};

use crate::sample::{finished, session_started, started};

/// An event that looks like events inside.
fn lookalike() -> SavedEvent {
    let mut finished = finished("s", "x", "{\"type\":\"item\"}\n{\"type\":\"call_finished\",");
    if let SavedEvent::CallFinished { result, .. } = &mut finished {
        let inner = serde_json::to_value(session_started("forged")).unwrap();
        result.metadata.insert("inner".into(), json!([inner, inner]));
        result.metadata.insert("short".into(), json!({"type": "item"}));
    }
    finished
}

fn event() -> impl Strategy<Value = SavedEvent> {
    let text = "[\\PC\n\"\\\\{}\u{2028}]{0,30}";
    prop_oneof![
        Just(session_started("s")),
        Just(lookalike()),
        text.prop_map(|text| started("s", "c", json!({"command": text, "n": [1.5, {}, null]}))),
        text.prop_map(|text| finished("s", "c", text)),
        text.prop_map(|text| SavedEvent::Item {
            item: HistoryItem::Summary { text },
            at: Timestamp(3)
        }),
    ]
}

#[derive(Debug, Clone)]
enum Part {
    Whole(Box<SavedEvent>),
    Torn(Vec<u8>),
    Garbage(Vec<u8>),
}

fn part() -> impl Strategy<Value = Part> {
    let torn = (event(), any::<prop::sample::Index>()).prop_map(|(event, at)| {
        let line = encode_event(&event);
        Part::Torn(line[..1 + at.index(line.len() - 2)].to_vec())
    });
    let garbage = prop_oneof![
        prop::collection::vec(any::<u8>(), 1..20),
        Just(vec![0; 512]),
        Just("{\"type\":\"item\"".into()),
        Just("{\"type\":\"elided\"}".into()),
        Just("{\"type\":\"item\",\"item\":".into()),
        Just("null 1 \"".into()),
    ]
    // What goes on like the inside of an object says that the event before it
    // was nested. That is a case of its own.
    .prop_filter("goes on", |bytes| {
        !bytes.iter().any(|b| b"\n,]}".contains(b)) || bytes.starts_with(b"{")
    });
    prop_oneof![
        3 => event().prop_map(|event| Part::Whole(Box::new(event))),
        2 => torn,
        1 => garbage.prop_map(Part::Garbage),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..<_>::default() })]

    #[test]
    fn whole_records_are_read_whatever_is_around_them(
        parts in prop::collection::vec((part(), any::<bool>()), 0..12),
    ) {
        let (mut log, mut expected, mut damaged) = (Vec::new(), Vec::new(), Vec::new());
        for (part, ended) in &parts {
            let start = log.len();
            match part {
                Part::Whole(event) => {
                    expected.push((start as u64, (**event).clone()));
                    let line = encode_event(event);
                    log.extend(&line[..line.len() - 1]);
                }
                Part::Torn(bytes) | Part::Garbage(bytes) => {
                    log.extend(bytes);
                    damaged.push(start..log.len());
                }
            }
            if *ended {
                log.push(b'\n');
            }
        }
        let read = SessionRecords::parse(&log);
        prop_assert_eq!(&read.events, &expected);

        let mut end = 0;
        for skipped in &read.diagnostics {
            prop_assert!(skipped.position >= end);
            end = skipped.position + skipped.bytes;
            let lines = 1 + log[..skipped.position as usize].iter().filter(|&&b| b == b'\n').count();
            prop_assert_eq!(skipped.line, lines as u64);
        }
        let reported = |at: usize| read.diagnostics.iter().any(|skipped| {
            (skipped.position..skipped.position + skipped.bytes).contains(&(at as u64))
        });
        for range in damaged {
            for at in range.filter(|&at| !log[at].is_ascii_whitespace()) {
                prop_assert!(reported(at), "byte {} is not reported", at);
            }
        }
    }

    #[test]
    fn any_bytes_can_be_read(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let read = SessionRecords::parse(&bytes);
        prop_assert_eq!(read.events.len(), 0);
    }

    #[test]
    fn one_damaged_byte_costs_one_record(
        events in prop::collection::vec(event(), 1..6),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let lines: Vec<_> = events.iter().map(encode_event).collect();
        let mut log = lines.concat();
        let at = at.index(log.len());
        log[at] = byte;
        // A line end that is lost or added touches the line beside it too,
        // which is then glued or torn and still read as far as it is whole.
        let read: Vec<_> = SessionRecords::parse(&log).into_events().collect();
        let mut end = 0;
        let untouched: Vec<_> = events
            .iter()
            .zip(&lines)
            .filter(|(_, line)| {
                let start = end;
                end += line.len();
                !(start..end).contains(&at)
            })
            .map(|(event, _)| event)
            .collect();
        let mut rest = read.iter();
        for event in &untouched {
            prop_assert!(rest.any(|found| found == *event));
        }
        prop_assert!(read.len() <= events.len());
    }
}

#[test]
fn a_log_cut_anywhere_has_its_whole_records() {
    let events = [session_started("s"), lookalike(), finished("s", "1", "é\u{2028}"), lookalike()];
    let log: Vec<u8> = events.iter().flat_map(encode_event).collect();
    for cut in 0..=log.len() {
        let read = SessionRecords::parse(&log[..cut]);
        // The last line is as good without its end.
        let whole = log[..cut].iter().filter(|&&b| b == b'\n').count()
            + usize::from(log.get(cut) == Some(&b'\n'));
        assert!(read.events.iter().map(|(_, event)| event).eq(&events[..whole]), "{cut}");
        let clean = log.get(cut) == Some(&b'\n') || cut == 0 || log[cut - 1] == b'\n';
        assert_eq!(read.diagnostics.len(), usize::from(!clean), "{cut}");
        assert!(read.diagnostics.iter().all(|s| s.reason == SkipReason::Unfinished), "{cut}");
    }
}

#[test]
fn two_records_glued_on_one_line_are_both_read() {
    let [mut one, two] = [finished("s", "1", "one"), lookalike()].map(|e| encode_event(&e));
    one.pop();
    let read = SessionRecords::parse(&[one.clone(), two.clone(), two].concat());
    let events: Vec<_> = read.events.iter().map(|(_, event)| event.clone()).collect();
    assert_eq!(events, [finished("s", "1", "one"), lookalike(), lookalike()]);
    assert_eq!(read.events[1].0, one.len() as u64);
    assert_eq!(read.diagnostics, []);
}

#[test]
fn nothing_nested_in_a_damaged_record_passes_for_an_event() {
    // Written by hand: our own encoder sorts the keys of free values, so that
    // `type` is never the first.
    let forged = String::from_utf8(encode_event(&session_started("forged"))).unwrap();
    let forged = forged.trim_end();
    let real = encode_event(&finished("s", "1", ""));
    let line = format!(
        r#"{{"type":"call_started","sessionId":"s","callId":"1","tool":"t","arguments":{{"a":[{forged},{forged}],"b":{forged}}}}}"#
    );
    assert_eq!(SessionRecords::parse(line.as_bytes()).events.len(), 1);
    for at in (0..line.len()).filter(|&at| !line[..at].ends_with(forged)) {
        let broken = [&line.as_bytes()[..at], b"\x01", &line.as_bytes()[at + 1..], b"\n", &real];
        let read = SessionRecords::parse(&broken.concat());
        assert!(
            read.events
                .iter()
                .all(|(_, event)| !matches!(event, SavedEvent::SessionStarted { .. })),
            "{at}: {read:?}"
        );
        assert_eq!(read.events.last().map(|(_, event)| event), Some(&finished("s", "1", "")));
    }
}

#[test]
fn each_kind_of_damage_is_named() {
    let good = String::from_utf8(encode_event(&session_started("s"))).unwrap();
    let check = |line: &[u8]| {
        let log = [good.as_bytes(), line, b"\n", good.as_bytes()].concat();
        let read = SessionRecords::parse(&log);
        assert_eq!(read.events.len(), 2, "{}", String::from_utf8_lossy(line));
        let [skipped] = read.diagnostics.as_slice() else { panic!("{:?}", read.diagnostics) };
        assert_eq!((skipped.position, skipped.line), (good.len() as u64, 2));
        assert_eq!(skipped.bytes, line.len() as u64);
        skipped.reason.clone()
    };
    assert_eq!(check(&[0; 5000]), SkipReason::Nuls);
    assert_eq!(check(b"{\"type\":\"item\",\"item\":\"\xff\"}"), SkipReason::NotUtf8);
    assert_eq!(check("{\"é".as_bytes().split_last().unwrap().1), SkipReason::NotUtf8);
    for text in ["{\"type\":\"item\"", "[1]", "7", "\"x\"", "--- restarted ---", "\u{feff}"] {
        let reason = check(text.as_bytes());
        assert!(
            matches!(reason, SkipReason::Event(EventDiagnostic::NotJson { .. })),
            "{text}: {reason}"
        );
    }
    assert!(matches!(
        check(b"{\"type\":\"hologram\"}"),
        SkipReason::Event(EventDiagnostic::UnknownType { kind }) if kind == "hologram"
    ));
    assert!(matches!(
        check(b"{\"type\":\"call_finished\",\"result\":{}}"),
        SkipReason::Event(EventDiagnostic::Broken { kind, .. }) if kind == "call_finished"
    ));
    assert_eq!(
        SessionRecords::parse(b"{}\n").diagnostics[0].to_string(),
        "2 bytes in line 1, from byte 0: unknown event type \"\""
    );
}

#[test]
fn blank_lines_and_carriage_returns_are_no_damage() {
    let line = String::from_utf8(encode_event(&finished("s", "1", "x"))).unwrap();
    let log = format!("\n{}\r\n \t\n\r\n{line}\n", line.trim_end());
    let read = SessionRecords::parse(log.as_bytes());
    assert_eq!((read.events.len(), read.diagnostics.len()), (2, 0));
}

#[test]
fn a_giant_line_is_one_record() {
    let text = "0123456789abcde\n".repeat(1 << 17);
    let log = [finished("s", "big", text.clone()), session_started("s")]
        .iter()
        .flat_map(encode_event)
        .collect::<Vec<_>>();
    let read = SessionRecords::parse(&log);
    assert_eq!(read.events.first().map(|(_, event)| event), Some(&finished("s", "big", text)));
    assert_eq!(read.events.len(), 2);
}
