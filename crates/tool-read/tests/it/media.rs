//! Images and PDFs: what is attached.

use output_contract::Status;
use output_contract::limits::MAX_ATTACHMENT_BYTES;
use serde_json::json;

use crate::calling::{Reader, scratch};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";
const PDF: &[u8] = b"%PDF-1.7\n";

#[tokio::test]
async fn images_and_pdfs_are_attached_whole() {
    let (_guard, cwd) = scratch();
    let noise = [0x80, 0, 1, 0xff].repeat(600_000);
    let reader = Reader::of_files(&cwd);
    for (magic, media_type) in [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
        (PDF, "application/pdf"),
    ] {
        let content = [magic, &noise].concat();
        // The name says nothing.
        fs_err::write(cwd.join("photo.txt"), &content).unwrap();
        fs_err::os::unix::fs::symlink("photo.txt", cwd.join("link")).unwrap();
        for arguments in [
            json!({"filePath": "photo.txt"}),
            json!({"filePath": "link", "offset": 9, "limit": 1, "byteOffset": 7}),
        ] {
            let answer = reader.read(arguments).await;
            let line = format!("attached: {media_type}, {} bytes", content.len());
            assert_eq!((answer.status, answer.page()), (Status::Completed, &*line));
            assert_eq!(answer.display.as_ref(), Some(&line));
            assert_eq!(answer.number("totalBytes"), Some(content.len() as u64));
            let [attachment] = &*answer.attachments else { panic!("{answer:?}") };
            assert_eq!(
                (attachment.media_type(), attachment.name()),
                (media_type, Some("photo.txt"))
            );
            assert!(attachment.bytes() == &content);
        }
        fs_err::remove_file(cwd.join("link")).unwrap();
    }
}

#[tokio::test]
async fn what_is_larger_than_an_attachment_is_refused_with_advice() {
    let (_guard, cwd) = scratch();
    let reader = Reader::of_files(&cwd);
    let max = MAX_ATTACHMENT_BYTES;
    for (magic, media_type, advice) in [
        (PNG, "image/png", "make a smaller copy of it with a command, and read that"),
        (
            PDF,
            "application/pdf",
            "extract its text or some of its pages with a command, and read that",
        ),
    ] {
        let file = fs_err::File::create(cwd.join("file")).unwrap();
        std::io::Write::write_all(&mut &file, magic).unwrap();
        file.set_len(max as u64).unwrap();
        let answer = reader.read(json!({"filePath": "file"})).await;
        assert_eq!(answer.attachments[0].bytes().len(), max);
        file.set_len(max as u64 + 1).unwrap();
        let text = reader.failure(json!({"filePath": "file"})).await;
        assert_eq!(
            text,
            format!(
                "{cwd}/file has 20971521 bytes ({media_type}), and an attachment has at most \
                 20971520; {advice}"
            )
        );
    }
}
