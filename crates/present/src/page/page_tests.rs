use super::*;

#[test]
fn parts_are_put_in_once() {
    let parts = [("a", "{{b}}".to_owned()), ("b", "x".to_owned())];
    assert_eq!(fill("<{{a}}|{{b}}|{{c}}>", &parts), "<{{b}}|x|>");
}

#[test]
fn the_page_asks_for_nothing() {
    for asset in SCRIPTS.iter().chain([&PAGE, &STYLE]) {
        for word in ["http:", "https:", "src=", "@import", "url(", "fetch(", "XMLHttpRequest", "import("] {
            assert!(!asset.contains(word), "an asset has {word}");
        }
    }
    assert!(PAGE.contains("default-src 'none'"));
}

#[test]
fn text_is_no_markup() {
    assert_eq!(escape("a<b> & \"c\""), "a&lt;b&gt; &amp; &quot;c&quot;");
    assert!(!embed(&serde_json::json!("<!-- </script>")).contains('<'));
}
