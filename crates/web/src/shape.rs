//! Types of the API, and the same in TypeScript: `shape!` stands around each, and a test compares what it gives with
//! `ui/src/types.ts`.

/// A type that answers and requests are made of.
#[cfg(test)]
pub(crate) trait Shape {
    /// Whether a request may leave it out.
    const OPTIONAL: bool = false;
    /// What pages call it.
    fn name() -> String;
}

/// A type with a declaration of its own.
#[cfg(test)]
pub(crate) trait Declared: Shape {
    fn declaration() -> String;
}

#[cfg(test)]
mod plain {
    use super::Shape;

    macro_rules! plain {
        ($($type:ty => $name:literal),+) => {
            $(impl Shape for $type { fn name() -> String { $name.to_owned() } })+
        };
    }

    plain!(String => "string", &'static str => "string", bool => "boolean", serde_json::Value => "unknown");
    plain!(i32 => "number", i64 => "number", u32 => "number", u64 => "number", f64 => "number");

    impl<T: Shape> Shape for std::collections::BTreeMap<String, T> {
        fn name() -> String {
            format!("Record<string, {}>", T::name())
        }
    }

    impl<T: Shape> Shape for Option<T> {
        const OPTIONAL: bool = true;
        fn name() -> String {
            format!("{} | null", T::name())
        }
    }

    impl<T: Shape> Shape for Vec<T> {
        fn name() -> String {
            format!("{}[]", T::name())
        }
    }
}

/// `HierarchyFile` as `hierarchy-file`.
#[cfg(test)]
pub(crate) fn kebab(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !out.is_empty() {
            out.push('-');
        }
        out.extend(c.to_lowercase());
    }
    out
}

/// The fields of a type: name, what it is, whether it may be left out. Answers always say what they have.
#[cfg(test)]
pub(crate) fn fields(all: &[(&str, String, bool)], is_request: bool) -> String {
    let one = |(name, kind, optional): &(&str, String, bool)| match is_request && *optional {
        true => format!("{name}?: {kind}; "),
        false => format!("{name}: {kind}; "),
    };
    format!("{{ {}}}", all.iter().map(one).collect::<String>())
}

/// Declares a type as it stands, and what it is in TypeScript. Fields bear nothing but their comments, so that what serde
/// does is what is said here.
macro_rules! shape {
    (answer $(#[$meta:meta])* $vis:vis struct $name:ident { $($(#[doc = $doc:literal])* $own:vis $field:ident: $type:ty),* $(,)? }) => {
        $(#[$meta])*
        #[derive(serde::Serialize)]
        $vis struct $name { $($(#[doc = $doc])* $own $field: $type),* }
        $crate::shape::shape!(@ $name false [$(($field $type))*]);
    };
    // What a command prints and the server hands on: what pages do not read is left out.
    (result $(#[$meta:meta])* $vis:vis struct $name:ident { $($(#[doc = $doc:literal])* $own:vis $field:ident: $type:ty),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, serde::Serialize, serde::Deserialize)]
        $vis struct $name { $($(#[doc = $doc])* $own $field: $type),* }
        $crate::shape::shape!(@ $name false [$(($field $type))*]);
    };
    (request $(#[$meta:meta])* $vis:vis struct $name:ident { $($(#[doc = $doc:literal])* $own:vis $field:ident: $type:ty),* $(,)? }) => {
        $(#[$meta])*
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        $vis struct $name { $($(#[doc = $doc])* $own $field: $type),* }
        $crate::shape::shape!(@ $name true [$(($field $type))*]);
    };
    (@ $name:ident $request:literal [$(($field:ident $type:ty))*]) => {
        #[cfg(test)]
        impl $crate::shape::Shape for $name {
            fn name() -> String { stringify!($name).to_owned() }
        }
        #[cfg(test)]
        impl $crate::shape::Declared for $name {
            fn declaration() -> String {
                use $crate::shape::Shape;
                let all = [$((stringify!($field).trim_start_matches("r#"), <$type>::name(), <$type>::OPTIONAL)),*];
                format!("export type {} = {};\n", Self::name(), $crate::shape::fields(&all, $request))
            }
        }
    };
    // One of several words.
    (words $(#[$meta:meta])* $vis:vis enum $name:ident { $($(#[doc = $doc:literal])* $variant:ident),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
        #[serde(rename_all = "kebab-case")]
        $vis enum $name { $($(#[doc = $doc])* $variant),* }
        #[cfg(test)]
        impl $crate::shape::Shape for $name {
            fn name() -> String { stringify!($name).to_owned() }
        }
        #[cfg(test)]
        impl $crate::shape::Declared for $name {
            fn declaration() -> String {
                let all = [$(format!("\"{}\"", $crate::shape::kebab(stringify!($variant)))),*];
                format!("export type {} = {};\n", stringify!($name), all.join(" | "))
            }
        }
    };
    // One of several requests, told apart by what stands at `$tag`, or by their own key.
    (either $tag:literal $(#[$meta:meta])* $vis:vis enum $name:ident {
        $($(#[doc = $about:literal])* $variant:ident { $($(#[doc = $doc:literal])* $field:ident: $type:ty),* $(,)? }),* $(,)?
    }) => {
        #[derive(serde::Deserialize)]
        $(#[$meta])*
        #[serde(rename_all = "kebab-case", deny_unknown_fields)]
        $vis enum $name { $($(#[doc = $about])* $variant { $($(#[doc = $doc])* $field: $type),* }),* }
        #[cfg(test)]
        impl $crate::shape::Shape for $name {
            fn name() -> String { stringify!($name).to_owned() }
        }
        #[cfg(test)]
        impl $crate::shape::Declared for $name {
            fn declaration() -> String {
                use $crate::shape::{Shape, fields, kebab};
                let mut out = format!("export type {} =\n", Self::name());
                $({
                    let mut all: Vec<(&str, String, bool)> =
                        vec![$((stringify!($field), <$type>::name(), <$type>::OPTIONAL)),*];
                    let own = kebab(stringify!($variant));
                    let kind = match $tag {
                        "" => format!("{{ {own}: {} }}", fields(&all, true)),
                        tag => {
                            all.insert(0, (tag, format!("\"{own}\""), false));
                            fields(&all, true)
                        }
                    };
                    out.push_str(&format!("  | {kind}\n"));
                })*
                out.truncate(out.len() - 1);
                out + ";\n"
            }
        }
    };
}
pub(crate) use shape;

#[cfg(test)]
mod tests {
    use super::Declared;

    #[test]
    fn pages_and_server_have_the_same_types() {
        let mut text = String::from(
            "// What the server answers and takes. Written by the tests of the crate: BOSKET_BLESS=1 cargo test -p bosket-web pages_and\n\n",
        );
        let mut add = |declaration: String| text.push_str(&declaration);
        add(crate::error::Told::declaration());
        add(crate::error::Refusal::declaration());
        add(crate::project::State::declaration());
        add(crate::project::PolicyState::declaration());
        add(crate::project::DataKind::declaration());
        add(crate::project::DataState::declaration());
        add(crate::project::PublicationState::declaration());
        add(crate::project::Named::declaration());
        add(crate::project::ModelView::declaration());
        add(crate::project::Project::declaration());
        add(crate::policy::AttributeView::declaration());
        add(crate::attackers::AttackerView::declaration());
        add(crate::policy::PolicyView::declaration());
        add(crate::policy::Edit::declaration());
        add(crate::api::Change::declaration());
        add(crate::hierarchy::TreeEdit::declaration());
        add(crate::hierarchy::HierarchyView::declaration());
        add(crate::api::ChangeOfHierarchy::declaration());
        add(crate::api::Entering::declaration());
        add(crate::api::Entered::declaration());
        add(crate::api::Wanted::declaration());
        add(crate::api::Ticket::declaration());
        add(crate::jobs::JobState::declaration());
        add(crate::jobs::JobView::declaration());
        add(crate::command::Asked::declaration());
        add(crate::runs::RunView::declaration());
        add(crate::publish::AsItIs::declaration());
        add(crate::publish::PublishView::declaration());
        add(crate::package::Packing::declaration());
        add(crate::package::Packed::declaration());
        add(crate::sign::Signing::declaration());
        add(crate::sign::NewKey::declaration());
        crate::results::declarations().into_iter().for_each(&mut add);
        let place = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("ui/src/types.ts");
        if std::env::var_os("BOSKET_BLESS").is_some() {
            std::fs::write(&place, &text).expect("written");
        }
        let committed = std::fs::read_to_string(&place).unwrap_or_default();
        assert!(committed == text, "ui/src/types.ts is not what the server has; it should be:\n{text}");
    }
}
