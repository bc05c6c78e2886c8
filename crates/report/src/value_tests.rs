use super::*;
use crate::input::Field;

fn int(bits: u32, signed: bool) -> InputType {
    InputType::Int { name: "int".into(), bits, signed }
}

#[test]
fn integers() {
    assert_eq!(render(&int(32, true), &[0xff, 0xff, 0xff, 0xff]), "-1");
    assert_eq!(render(&int(32, false), &[0xff, 0xff, 0xff, 0xff]), "4294967295");
    assert_eq!(render(&int(128, true), &[0xff; 16]), "-1");
    assert_eq!(render(&int(128, false), &[0xff; 16]), u128::MAX.to_string());
    assert_eq!(render(&int(16, true), &[0, 0x80]), "-32768");
    assert_eq!(to_json(&int(64, false), &[0xff; 8]), json!(u64::MAX));
    assert_eq!(to_json(&int(128, false), &[0xff; 16]), json!(u128::MAX.to_string()));
    assert_eq!(render(&int(256, false), &[1; 32]).len(), 66);
}

#[test]
fn floats() {
    let float = |bits| InputType::Float { name: "f".into(), bits };
    assert_eq!(render(&float(32), &1.5f32.to_le_bytes()), "1.5");
    assert_eq!(render(&float(64), &f64::NAN.to_le_bytes()), "nan");
    assert_eq!(render(&float(64), &f64::NEG_INFINITY.to_le_bytes()), "-inf");
    let mut one = [0u8; 16];
    one[7] = 0x80;
    one[8..10].copy_from_slice(&16383u16.to_le_bytes());
    assert_eq!(render(&float(80), &one), "1.0");
    assert_eq!(render(&float(80), &[0; 16]), "0.0");
}

#[test]
fn text_and_aggregates() {
    let text = InputType::array(InputType::char(), 4);
    assert_eq!(render(&text, b"a\"\x01\0"), r#""a\"\001""#);
    assert_eq!(render(&text, b"[\0\0\0"), r#""[""#);
    assert_eq!(render(&text, b"a\0b\0"), r#""a\000b""#);
    assert_eq!(render(&InputType::Bytes(3), b"hi\0"), r#""hi""#);
    assert_eq!(render(&InputType::Bytes(3), b"h\x01\0"), "{0x68, 0x01, 0x00}");
    assert_eq!(render(&InputType::char(), b"'"), r"39 '\''");
    let s = InputType::Struct {
        name: "struct s".into(),
        size: 16,
        fields: vec![
            Field { name: "c".into(), offset: 0, ty: InputType::Bool },
            Field { name: "xs".into(), offset: 4, ty: InputType::array(int(16, true), 2) },
            Field { name: "p".into(), offset: 8, ty: InputType::Pointer { to: "void".into(), bits: 64 } },
        ],
    };
    let mut bytes = [0u8; 16];
    bytes[0] = 1;
    bytes[4] = 5;
    assert_eq!(render(&s, &bytes), "{.c = 1, .xs = {5, 0}, .p = NULL}");
    assert_eq!(to_json(&s, &bytes), json!({"c": true, "xs": [5, 0], "p": "NULL"}));
    let paths: Vec<_> = leaves("v", &s, &bytes).into_iter().map(|l| l.path).collect();
    assert_eq!(paths, ["v.c", "v.xs[0]", "v.xs[1]", "v.p"]);
}

#[test]
fn spelling_is_c() {
    assert_eq!(InputType::array(InputType::array(InputType::int(), 2), 3).declaration("x"), "int x[3][2]");
    assert_eq!(InputType::Pointer { to: "char".into(), bits: 64 }.declaration("p"), "char *p");
    assert_eq!(InputType::Bytes(3).spelling(), "unsigned char [3]");
}

#[test]
fn short_and_odd_inputs_do_not_panic() {
    for ty in [
        int(32, true),
        InputType::char(),
        InputType::Bool,
        InputType::array(InputType::Bytes(0), u64::MAX),
        InputType::array(InputType::int(), u64::MAX),
        InputType::Struct {
            name: "s".into(),
            size: 1,
            fields: vec![Field { name: "f".into(), offset: u64::MAX, ty: InputType::int() }],
        },
        int(0, false),
    ] {
        for bytes in [&[][..], &[1], &[1, 2, 3, 4, 5]] {
            let _ = (render(&ty, bytes), to_json(&ty, bytes), leaves("x", &ty, bytes), ty.spelling());
        }
    }
}
