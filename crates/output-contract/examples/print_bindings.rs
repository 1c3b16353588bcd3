//! Prints the generated files as one JSON object, name to text. `cargo xtask
//! bindings` runs this, so that xtask itself builds without the types.

fn main() {
    let files = output_contract::bindings::files();
    let json = serde_json::to_string(&files).expect("names and texts are strings");
    println!("{json}");
}
