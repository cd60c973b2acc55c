"""Real-world tables: with or without headers, ids and dates, empty cells, texts and numbers, marks in numbers."""

import json
import random

import pytest

import onmargin as library
from onmargin.io import load_with_notes
from onmargin.io.csv_dialect import detect_dialect
from tests.apps.program import conll, jsonl, onmargin, report, said, svmlight


def people(path, n=400, delimiter=",", header=True):
    """Write a table: age, income, town and kids determine the label, id and date do not, some incomes are missing."""
    random_ = random.Random(0)
    lines = [delimiter.join(["id", "age", "income", "town", "kids", "date", "buys"])] if header else []
    for k in range(n):
        age, income = random_.randint(18, 80), random_.randint(10_000, 60_000)
        town, kids = random_.choice(["Ulm", "Bonn", "New York"]), random_.randint(0, 3)
        date = f"20{random_.randint(10, 24)}-{random_.randint(1, 12):02d}-{random_.randint(1, 28):02d}"
        buys = "yes" if (age - 45) / 15 + (income - 35_000) / 15_000 + (town == "Ulm") > 0.3 else "no"
        cell = "" if random_.random() < 0.1 else str(income)
        lines.append(delimiter.join([f"p{k:05d}", str(age), cell, town, str(kids), date, buys]))
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_table_is_learned_by_the_automatic_learner(tmp_path):
    data, out = people(tmp_path / "people.csv"), tmp_path / "model"
    lines = said("train", data, "-o", out).splitlines()
    assert lines[0].endswith("csv, commas between fields, a header, label 'buys'; task classify, AutoClassifier")
    assert lines[1].startswith("left out: 'id' (different in every row), 'date' (dates)")
    model = library.load(out)
    assert {name.partition("=")[0] for name in model.feature_names_} == {"age", "income", "town", "kids"}
    assert model.totals_.mistakes / 400 < 0.3  # the majority class has 0.47
    assert report("train", data, "-o", out, "--model", "PassiveAggressiveClassifier")["progressive_error"] > 0.35
    assert report("train", data, "-o", out, "--C", 0.1)["learner"] == "PassiveAggressiveClassifier"
    number = report("train", data, "-o", out, "--label", "income", "--on-error", "skip")
    assert (number["learner"], number["task"]) == ("AutoRegressor", "regress")
    assert number["mae"] < number["rmse"] < 30_000
    assert 20 < number["skipped"] < 60


def test_columns_are_chosen(tmp_path):
    data, out = people(tmp_path / "people.csv"), tmp_path / "model"

    def names(*options):
        onmargin("train", data, "-o", out, *options)
        return {name.partition("=")[0] for name in library.load(out).feature_names_}

    assert names("--ignore", "town", "--ignore", "kids") == {"age", "income"}
    assert names("--only", "id", "--only", "age") == {"id", "age"}
    crossed = names("--cross", "age", "income", "--cross", "town", "kids", "--cross", "age", "town")
    assert {"age*income", "town*kids", "age*town"} < crossed
    assert report("evaluate", out, data)["accuracy"] > 0.7
    for option in ("--ignore", "--only", "--text", "--weight", "--label"):
        message = onmargin("train", data, "-o", out, option, "colour", code=1)
        assert f"there is no column 'colour' for {option}" in message
    assert "'id' is not" in onmargin("train", data, "-o", out, "--cross", "id", "age", code=2)


def test_an_empty_cell_is_missing(tmp_path):
    data, out = tmp_path / "a.csv", tmp_path / "model"
    rows = [f"{mark},{k % 7 + 1},{'ab'[k % 2]}" for k, mark in enumerate(["", "NA", "?", "nan", "#N/A", "None"] * 5)]
    data.write_text("\n".join(["u,v,y", "3,1,a", *rows]) + "\n")
    onmargin("train", data, "-o", out)
    assert library.load(out).feature_names_ == ["u", "v"]


def test_texts_numbers_and_categories_in_one_table(tmp_path):
    data, out = tmp_path / "a.csv", tmp_path / "model"
    words = [
        "the soup was cold again",
        "a very good dinner here",
        "nice people and good food",
        "never again this place",
    ]
    stars = ["bad", "good", "good", "bad"]
    rows = [f"{words[k % 4]} {k},{k % 5},{'ab'[k % 2]},{stars[k % 4]}" for k in range(60)]
    data.write_text("\n".join(["review,visits,town,opinion", *rows]) + "\n")
    assert "text 'review'" in said("train", data, "-o", out)
    names = library.load(out).feature_names_
    assert {"visits", "town=a", "review=good", "review=cold"} <= set(names)
    assert report("evaluate", out, data)["accuracy"] == 1.0
    onmargin("train", data, "-o", out, "--set", "ngrams=(1, 2)")
    assert "review=good dinner" in library.load(out).feature_names_
    # Another file may have other column names.
    other = tmp_path / "b.csv"
    other.write_text(data.read_text().replace("review,", "body,").replace("opinion", "stars"))
    assert "has no column 'review'" in said("predict", out, other)
    assert report("evaluate", out, other, "--text", "body", "--label", "stars")["accuracy"] == 1.0
    assert "idf is for texts alone" in onmargin("train", data, "-o", out, "--set", "idf=true", code=2)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("header", [True, False])
def test_headers_are_detected_or_generated(tmp_path, delimiter, header):
    data, out = people(tmp_path / "people.txt", 60, delimiter, header), tmp_path / "model"
    done = report("train", data, "-o", out)
    assert (done["examples"], done["classes"]) == (60, 2)
    recipe = load_with_notes(out)[1]["recipe"]
    assert (recipe["dialect"]["delimiter"], recipe["dialect"]["header"]) == (delimiter, header)
    assert recipe["label"] == ("buys" if header else "6")
    assert report("evaluate", out, data)["examples"] == 60
    forced = report("train", data, "-o", out, "--no-header" if header else "--header", "--task", "classify")
    assert forced["examples"] == 60 + (1 if header else -1)


def test_a_tsv_has_tabs_and_no_quotes(tmp_path):
    data, out = tmp_path / "sms.tsv", tmp_path / "model"
    rows = ['ham\tOk, "see you" at noon, then, bye', 'spam\t"Free, entry, now', "ham\tno, no, no, thanks a lot"]
    data.write_text("\n".join(rows * 20) + "\n")
    assert "tabs between fields, no header (columns are 0, 1, ...), label '0', text '1'" in said(
        "train", data, "-o", out
    )
    assert library.load(out).classes_ == ["ham", "spam"]
    assert "noon" in library.load(out).weights()


def test_marks_of_numbers(tmp_path):
    out = tmp_path / "model"

    def weights(name, text, *options):
        (tmp_path / name).write_text(text)
        onmargin("train", tmp_path / name, "-o", out, *options)
        return library.load(out).feature_names_

    assert weights("comma.csv", "a;b;y\n1,5;2;p\n0,25;3;q\n") == ["a", "b"]
    assert "decimal mark ','" in said("train", tmp_path / "comma.csv", "-o", out)
    assert weights("dots.csv", "a;b;y\n1.234,5;2;p\n2.000.000,0;3;q\n") == ["a", "b"]
    assert weights("thousands.csv", 'a,b,y\n"1,234",2,p\n"2,000,000.5",3,q\n') == ["a", "b"]
    assert weights("spaces.csv", "a,b,y\n1 234,2,p\n20 000,3,q\n") == ["a", "b"]
    ambiguous = "a;b;y\n1,234;2;p\n2,500;3;q\n"
    (tmp_path / "unclear.csv").write_text(ambiguous)
    assert "set --decimal , or --thousands ," in onmargin("train", tmp_path / "unclear.csv", "-o", out, code=1)
    assert weights("unclear.csv", ambiguous, "--thousands", ",") == ["a", "b"]
    assert weights("unclear.csv", ambiguous, "--decimal", ",") == ["a", "b"]


def test_a_few_numbers_do_not_group_the_digits_of_others(tmp_path):
    data, out = tmp_path / "a.csv", tmp_path / "model"
    rows = [f"0.{k % 9}25,{k % 7}.5,{'pq'[k % 2]}" for k in range(40)]
    data.write_text("\n".join(["a,b,y", *rows, '"1.234,5",2.5,p', '"0,125",1.5,q']) + "\n")
    onmargin("train", data, "-o", out)
    read = library.load(out).features_.read
    assert read({"a": "0.125", "b": "1.125"}) == {"a": 0.125, "b": 1.125}
    assert read({"a": "0,125"}) == {"a": 0.125}


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        # One decimal comma per line is not a delimiter, with or without a header.
        (["weight;group", "4,17;ctrl", "5,58;ctrl", "5,18;trt"], (";", True, ",")),
        (["4,17;ctrl", "5,58;ctrl", "5,18;trt"], (";", False, ",")),
        (["L1;S1;B1;0,29", "L2;S1;B1;0,33", "L2;S2;B2;0,31"], (";", False, ",")),
        (["a;b", "1,2e-05;3", "0,5;4"], (";", True, ",")),
        (["a;b", "NA;3", "0,5;NA", "?;4"], (";", True, ",")),
        (["a,b", "x;y,3", "z,4"], (",", True, ".")),
        (["a,b,c", "1,NA,x", "NA,2,y"], (",", True, ".")),
        (['"a b","two', 'lines",label', '"x","y",1'], (",", True, ".")),
    ],
)
def test_tables_are_recognized(lines, found):
    look = detect_dialect(lines)
    assert (look.delimiter, look.header, look.decimal) == found


def test_a_field_of_the_first_row_has_two_lines(tmp_path):
    """The csv module raised an error."""
    data = tmp_path / "a.csv"
    data.write_text("".join(f'"one\ntwo {k}",{k % 5},{"ab"[k % 2]}\n' for k in range(30)))
    assert report("train", data, "-o", tmp_path / "model")["classes"] == 2


def test_years_are_kept_and_row_numbers_are_not(tmp_path):
    data, out = tmp_path / "a.csv", tmp_path / "model"
    data.write_text("n,year,label\n" + "".join(f"{k},{1900 + k},{'ab'[k > 20]}\n" for k in range(40)))
    assert "left out: 'n' (row numbers);" in said("train", data, "-o", out)
    assert library.load(out).feature_names_ == ["year"]


def test_many_whole_numbers_are_quantities(tmp_path):
    data, out = tmp_path / "a.csv", tmp_path / "model"
    data.write_text("x,age\n" + "".join(f"{k % 7}.5,{20 + k * 7 % 60}\n" for k in range(400)))
    assert report("train", data, "-o", out)["task"] == "regress"
    data.write_text("x,rings\n" + "".join(f"{k % 7}.5,{1 + k * 7 % 20}\n" for k in range(400)))
    assert "20 different whole numbers as labels are treated as classes" in said("train", data, "-o", out)
    assert "treated as classes" not in said("train", data, "-o", out, "--task", "classify")


def test_implausible_labels_are_refused(tmp_path):
    data, out = people(tmp_path / "people.csv", 60), tmp_path / "model"
    message = onmargin("train", data, "-o", out, "--label", "id", code=1)
    assert "the label 'id' has 60 different values in the first 60 examples" in message
    assert "--label" in message
    assert report("train", data, "-o", out, "--label", "id", "--task", "classify")["classes"] == 60


def test_json_arrays_and_flat_records(tmp_path):
    records = [{"message": f"cheap pills now {k}", "n": k % 3, "category": "spam"} for k in range(30)]
    records += [{"message": f"lunch at noon {k}", "n": k % 3, "category": "ham"} for k in range(30)]
    random.Random(0).shuffle(records)
    array, lines, out = tmp_path / "a.json", tmp_path / "a.jsonl", tmp_path / "model"
    array.write_text(json.dumps(records, indent=1))
    lines.write_text("".join(json.dumps(record) + "\n" for record in records))
    for data, format in ((array, "json"), (lines, "jsonl")):
        done = report("train", data, "-o", out, "--label", "category")
        assert (done["format"], done["classes"], done["examples"]) == (format, 2, 60)
        assert {"message=noon", "n"} <= set(library.load(out).feature_names_)
        onmargin("train", data, "-o", out, "--label", "category", "--text", "message", "--only", "message")
        assert "noon" in library.load(out).feature_names_
        assert report("evaluate", out, data)["accuracy"] > 0.9
        assert "name the --label, one of the keys 'message', 'n', 'category'" in onmargin(
            "train", data, "-o", out, code=1
        )
    nested = tmp_path / "nested.jsonl"
    nested.write_text('{"x": {"a": 1}, "kind": "p"}\n{"x": {"b": 1}, "kind": "q"}\n')
    assert report("train", nested, "-o", out, "--label", "kind")["classes"] == 2


def test_arff(tmp_path):
    data, out = tmp_path / "a.arff", tmp_path / "model"
    rows = "\n".join(f"{k % 5},{'red' if k % 2 else 'blue'},{'yes' if k % 2 else 'no'}" for k in range(40))
    head = "% weather\n@RELATION r\n@ATTRIBUTE 'the size' REAL\n@attribute color {red, blue}\n@attribute y {yes, no}\n"
    data.write_text(f"{head}@DATA\n{rows}\n?,red,yes\n")
    done = report("train", data, "-o", out)
    assert (done["format"], done["classes"], done["examples"]) == ("arff", 2, 41)
    assert set(library.load(out).feature_names_) == {"the size", "color=red", "color=blue"}
    assert report("evaluate", out, data)["accuracy"] == 1.0


def test_conll_with_tabs_is_conll(tmp_path):
    spaces, tabs, out = conll(tmp_path / "a"), tmp_path / "b", tmp_path / "model"
    tabs.write_text(spaces.read_text().replace(" ", "\t"))
    done = report("train", tabs, "-o", out)
    assert (done["format"], done["classes"]) == ("conll", 3)
    assert done["token_accuracy"] > 0.5
    assert "sequence_error" in done
    # The column of words is not a label.
    words = tmp_path / "words"
    words.write_text("\n".join(f"w{k} X" if k % 6 else "" for k in range(1, 900)) + "\n")
    message = onmargin("train", words, "-o", out, "--label", 0, code=1)
    assert "different labels" in message


@pytest.mark.parametrize(
    ("make", "options", "words"),
    [
        (svmlight, ["--label", "y"], "--label has no effect on svmlight files"),
        (svmlight, ["--text", "y"], "--text has no effect on svmlight files"),
        (svmlight, ["--no-header"], "--header or --no-header has no effect"),
        (svmlight, ["--set", "ngrams=(1, 2)"], "ngrams is for texts"),
        (jsonl, ["--delimiter", ","], "--delimiter has no effect on jsonl files"),
        (jsonl, ["--zero-based"], "--zero-based has no effect on jsonl files"),
        (jsonl, ["--template", "w[0]"], "--template has no effect on jsonl files"),
        (conll, ["--cross", "a", "b"], "--cross has no effect on conll files"),
        (people, ["--set", "lowercase=false", "--ignore", "date"], "lowercase is for texts"),
        (people, ["--holdout", "10", "--shuffle"], "leave --shuffle out"),
    ],
)
def test_an_option_without_effect_is_an_error(tmp_path, make, options, words):
    data = make(tmp_path / f"a.{'csv' if make is people else make.__name__}")
    message = onmargin("train", data, "-o", tmp_path / "model", *options, code=2)
    assert words in " ".join(message.split())


def test_options_without_effect_on_files_to_predict(tmp_path):
    data, out = svmlight(tmp_path / "a.svm"), tmp_path / "model"
    onmargin("train", data, "-o", out)
    for command in ("predict", "evaluate"):
        assert "--label has no effect" in onmargin(command, out, data, "--label", "y", code=2)
    assert "--keep is for -o" in onmargin("predict", out, data, "--keep", "id", code=2)
    assert "--force is for -o" in onmargin("predict", out, data, "--force", code=2)
    more = onmargin("train", data, "--from", out, "-o", tmp_path / "b", "--zero-based", code=2)
    assert "leave those options out" in more


@pytest.mark.parametrize("make", [svmlight, jsonl])
def test_a_ball_contains_most_of_its_examples(tmp_path, make):
    data, out = make(tmp_path / f"a.{make.__name__}"), tmp_path / "model"
    onmargin("train", data, "-o", out, "--task", "novelty")
    assert report("evaluate", out, data)["outside_share"] < 0.2
    onmargin("train", data, "-o", out, "--task", "novelty", "--set", "epsilon=0.1")
    assert report("evaluate", out, data)["outside_share"] < 0.2


def test_taggers_average_by_default(tmp_path):
    """SequenceTagger.fit does, too; after one pass over CoNLL-2000, averaging raises F1 from 88.5 to 92.8."""
    data, out = conll(tmp_path / "a.conll", 30), tmp_path / "model"
    onmargin("train", data, "-o", out)
    assert library.load(out).average is True
    onmargin("train", data, "-o", out, "--set", "average=false")
    assert library.load(out).average is False


@pytest.mark.parametrize(
    ("price", "share", "delimiter"),
    [("${:,.2f}", "{}%", ","), ("-£{:.2f}", "{} %", ";"), ("{:.2f} €", "{}%", "\t"), ("€ {:.0f}", "+{}%", "|")],
)
def test_numbers_with_currency_and_percent_signs_are_numbers(tmp_path, price, share, delimiter):
    random_ = random.Random(0)
    rows = [(random_.uniform(100, 9000), random_.randint(0, 60)) for _ in range(300)]
    cells = [(price.format(a), share.format(b), "yes" if a * (1 - b / 100) > 3000 else "no") for a, b in rows]
    data, out = tmp_path / "a.csv", tmp_path / "model"
    lines = [("price", "discount", "sold"), *((f'"{a}"', b, y) for a, b, y in cells)]
    data.write_text("\n".join(map(delimiter.join, lines)) + "\n")
    found = report("train", data, "-o", out)
    assert library.load(out).feature_names_ == ["price", "discount"]
    assert found["progressive_error"] < 0.15
    number = report("train", data, "-o", out, "--label", "price", "--force")
    assert number["task"] == "regress"


def test_signs_that_belong_to_no_number_stay(tmp_path):
    data, out = tmp_path / "a.csv", tmp_path / "model"
    offers = ["50% off", "US$5", "%", "a%", "$"]
    data.write_text("offer,n,y\n" + "".join(f"{offers[k % 5]},{k % 7},{'ab'[k % 5 < 2]}\n" for k in range(60)))
    onmargin("train", data, "-o", out)
    assert {name for name in library.load(out).feature_names_ if name != "n"} == {f"offer={name}" for name in offers}


@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_an_empty_table_is_called_empty(tmp_path, command):
    out, empty = tmp_path / "model", tmp_path / "empty.csv"
    onmargin("train", people(tmp_path / "people.csv", 50), "-o", out)
    empty.write_text("")
    assert onmargin(command, out, empty, code=1) == f"Error: {empty} is empty\n"


FLOWERS = [
    (f"{4.5 + k % 20 / 10:.1f}", f"{2 + k % 7 / 5:.1f}", f"{1 + k % 3 + k % 5 / 10:.1f}", kind)
    for k, kind in enumerate("abc" * 20)
]


@pytest.mark.parametrize(
    ("write", "look"),
    [
        (" ".join, "no header (columns are 0, 1, ...), label '3'"),
        (lambda row: "".join(f"{field:>9}" for field in row) + "  ", "no header (columns are 0, 1, ...), label '3'"),
        (lambda row: f"{'  '.join(row[:3])}\t{row[3]}", "no header (columns are 0, 1, ...), label '3'"),
        (
            lambda row: " ".join(row).replace(".", ","),
            "no header (columns are 0, 1, ...), decimal mark ',', label '3'",
        ),
        (
            lambda row: " ".join((row[3], *row[:3])),
            "no header (columns are 0, 1, ...), label '0' (the first column; the last one would be --label 3)",
        ),
    ],
)
def test_columns_between_blanks(tmp_path, write, look):
    data, few, out = tmp_path / "flowers.txt", tmp_path / "few.txt", tmp_path / "model"
    lines = [write(row) for row in FLOWERS]
    data.write_text("\n".join(lines) + "\n")
    few.write_text(lines[0])
    line = said("train", data, "-o", out).splitlines()[0]
    assert line.endswith(f"csv, whitespace between fields, {look}; task classify, AutoClassifier")
    assert len(library.load(out).feature_names_) == 3
    assert onmargin("predict", out, few).split() == ["a"]
    assert onmargin("predict", out, "-", stdin=lines[1]).split() == ["b"]


def test_a_header_between_blanks(tmp_path):
    data, out = tmp_path / "flowers.txt", tmp_path / "model"
    data.write_text("\n".join(["length  width  depth  kind", *map("  ".join, FLOWERS)]))
    assert "a header, label 'kind'" in said("train", data, "-o", out)
    assert {*library.load(out).feature_names_} == {"length", "width", "depth"}


def test_rows_of_r_have_names_that_the_header_lacks(tmp_path):
    data, out = tmp_path / "flowers.txt", tmp_path / "model"
    rows = [f'"{k}" {" ".join(row[:3])} "{row[3]}"' for k, row in enumerate(FLOWERS, 1)]
    for mark in (" ", "\t", ","):
        data.write_text("\n".join(line.replace(" ", mark) for line in ['"length" "width" "depth" "kind"', *rows]))
        lines = said("train", data, "-o", out).splitlines()
        assert "a header, label 'kind'" in lines[0]
        assert lines[1].startswith("left out: '' (row numbers)")
        assert {*library.load(out).feature_names_} == {"length", "width", "depth"}
        assert onmargin("predict", out, data).split()[-3:] == ["a", "b", "c"]


def test_a_delimiter_at_the_end_of_rows_is_no_name(tmp_path):
    data = tmp_path / "flowers.csv"
    data.write_text("\n".join(["length,width,depth,kind", *(",".join(row) + "," for row in FLOWERS)]))
    assert "the row has 5 fields, and there are 4 columns" in said("train", data, "-o", tmp_path / "model", code=1)


def test_a_table_without_header_may_lack_the_label(tmp_path):
    data, new, out = tmp_path / "flowers.csv", tmp_path / "new.csv", tmp_path / "model"
    data.write_text("\n".join(",".join((row[3], *row[:3])) for row in FLOWERS))
    new.write_text("\n".join(",".join(row[:3]) for row in FLOWERS))
    onmargin("train", data, "-o", out)
    assert onmargin("predict", out, new, "--strict") == onmargin("predict", out, data)
    assert "has no labels" in onmargin("evaluate", out, new, code=1)


def test_the_delimiter_of_a_model_is_kept_where_it_gives_its_columns(tmp_path):
    data, new, out = tmp_path / "rows.txt", tmp_path / "new.txt", tmp_path / "model"
    data.write_text("\n".join(f"{k % 2}\t{k % 5}\tNew York {k % 3}\t{'no' if k % 2 else 'yes'}" for k in range(40)))
    new.write_text("\n".join(f"{k % 2}\t\t\t" for k in range(20)))  # only the first column is filled
    onmargin("train", data, "-o", out)
    assert onmargin("predict", out, new, "--strict").split() == ["yes", "no"] * 10


def test_short_texts_are_no_table(tmp_path):
    data, new, out = tmp_path / "mail.txt", tmp_path / "new.txt", tmp_path / "model"
    data.write_text("spam\tcheap pills now\nham\tlunch at noon\n" * 20)
    new.write_text("cheap pills 5\nlunch noon 1\n" * 6)
    onmargin("train", data, "-o", out)
    assert onmargin("predict", out, new).split() == ["spam", "ham"] * 6
    new.write_text("cheap pills\n")
    assert onmargin("predict", out, new).split() == ["spam"]


@pytest.mark.parametrize("ending", ["csv", "parquet", "arff"])
def test_labels_and_weights_of_a_table_to_predict_may_be_empty_or_absent(tmp_path, ending):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = [{"a": k % 7, "w": 1 + k % 2, "b": k % 5, "kind": "xy"[k % 2]} for k in range(40)]
    empty = [row | {"w": None, "kind": None} for row in rows]

    def write(name, rows):
        path = tmp_path / f"{name}.{ending}"
        if ending == "parquet":
            parquet.write_table(arrow.Table.from_pylist(rows), path)
            return path
        kinds = {name: "{x, y}" if name == "kind" else "numeric" for name in rows[0]}
        head = ["@relation r", *(f"@attribute {name} {kind}" for name, kind in kinds.items()), "@data"]
        head, gap = ([",".join(rows[0])], "") if ending == "csv" else (head, "?")
        path.write_text("\n".join([*head, *(",".join(gap if v is None else str(v) for v in r.values()) for r in rows)]))
        return path

    train, model, out = write("train", rows), tmp_path / "model", tmp_path / "out.csv"
    onmargin("train", train, "-o", model, "--weight", "w")
    expected = onmargin("predict", model, train)
    assert onmargin("predict", model, write("empty", empty)) == expected
    assert onmargin("predict", model, write("bare", [{"a": row["a"], "b": row["b"]} for row in rows])) == expected
    onmargin("predict", model, train, "-o", out)
    found = [line.rpartition(",")[0] for line in out.read_text().splitlines()]
    assert found[:3] == ["a,w,b,kind", "0,1,0,x", "1,2,1,y"]
    if ending == "csv":
        assert "is empty" in onmargin("evaluate", model, tmp_path / "empty.csv", code=1)


MESSY = {
    "blanks after commas": ("age, kind, label\n", "{}, {}, {}\n"),
    "blanks around bars": ("age | kind | label\n", "{} | {} | {}\n"),
    "delimiter for spreadsheets": ("sep=;\nage;kind;label\n", "{};{};{}\n"),
    "single quotes": ("'age','kind','label'\n", "'{}','{}','{}'\n"),
    "empty columns": ("age,kind,label,,\n", "{},{},{},,\n"),
}


@pytest.mark.parametrize("case", MESSY)
def test_messy_tables_are_read_like_clean_ones(tmp_path, case):
    head, form = MESSY[case]
    data, out, answers = tmp_path / "data.txt", tmp_path / "model", tmp_path / "answers.csv"
    rows = [(20 + 7 * k % 50, "AB"[k % 2], "no" if 7 * k % 50 < 25 else "yes") for k in range(60)]
    data.write_text(head + "".join(form.format(*row) for row in rows))
    assert "a header, label 'label'; task classify" in said("train", data, "-o", out)
    assert {*library.load(out).feature_names_} == {"age", "kind=A", "kind=B"}
    assert list(library.load(out).classes_) == ["no", "yes"]
    onmargin("predict", out, data, "-o", answers)
    assert answers.read_text().splitlines()[1].startswith("20,A,no,")
    assert onmargin("predict", out, "-", stdin=head + form.format(*rows[0])) == onmargin("predict", out, data)[:3]


def test_comments_before_a_table_are_refused_with_the_remedy(tmp_path):
    for text in ("# made today\n# by me\nage,label\n1,yes\n2,no\n", "# age label\n1 yes\n2 no\n3 yes\n"):
        (tmp_path / "data").write_text(text)
        assert "use --comment '#'" in onmargin("train", tmp_path / "data", "-o", tmp_path / "m", code=1)


def test_an_object_around_the_examples_is_refused_with_the_remedy(tmp_path):
    rows = [{"age": k, "label": "yes"} for k in range(3000)]
    for indent in (None, 1):
        (tmp_path / "data.json").write_text(json.dumps({"data": rows}, indent=indent))
        problem = onmargin("train", tmp_path / "data.json", "-o", tmp_path / "m", code=1)
        assert "under the key 'data': extract them, such as with jq -c '.data[]'" in problem
    (tmp_path / "data.jsonl").write_text('{"parts": [{"a": 1}], "label": "yes"}\n' * 2)
    assert "'parts' must be a finite number or a string" in onmargin(
        "train", tmp_path / "data.jsonl", "-o", tmp_path / "m", code=1
    )


def test_labels_that_differ_only_in_case_are_noticed(tmp_path):
    data = tmp_path / "data.csv"
    data.write_text("age,label\n" + "1,yes\n2,no\n3,Yes\n" * 5)
    assert "the labels 'Yes' and 'yes' differ only in case" in said("train", data, "-o", tmp_path / "m")


def test_yes_and_no_in_the_first_column_are_the_label(tmp_path):
    data = tmp_path / "data.csv"
    data.write_text("".join(f"{'yes' if k % 2 else 'no'},{k % 7},{'ABC'[k % 3]}\n" for k in range(60)))
    line = said("train", data, "-o", tmp_path / "m")
    assert "label '0' (the first column; the last one would be --label 2)" in line
    data.write_text("".join(f"{'north' if k % 2 else 'south'},{k % 7},{'ABC'[k % 3]}\n" for k in range(60)))
    line = said("train", data, "-o", tmp_path / "m")
    assert "label '2' (the last column; the first one would be --label 0)" in line


def test_an_encoding_error_names_only_the_encoding(tmp_path):
    (tmp_path / "data.csv").write_bytes("Größe,label\n1,a\n2,b\n".encode("cp1252"))
    problem = onmargin("train", tmp_path / "data.csv", "-o", tmp_path / "m", code=1)
    assert "--encoding" in problem
    assert "--on-error" not in problem
