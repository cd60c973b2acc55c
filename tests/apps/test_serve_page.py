"""The page in a real browser: live updates, predictions, keyboard use, dark mode and small screens."""

import shutil

import pytest
from playwright.sync_api import expect, sync_playwright

from onmargin.apps.serve.tokens import Tokens, line
from tests.apps.serving import TIMEOUT, create, learn, predict, records, served
from tests.waiting import wait_until

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium here: apt-get install chromium")
PAIRS = list(records(200))
expect.set_options(timeout=1000 * TIMEOUT)
MARKUP = "<img src=x onerror=document.title='owned'>"


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def client(tmp_path):
    with served(tmp_path) as client:
        create(client, C=0.3)
        learn(client, "m", *PAIRS[:100])
        create(client, "other", "regress")
        yield client


@pytest.fixture
def opened(browser, client):
    """Open the page in a browser with these settings; return it with its requests and errors."""
    contexts = []

    def open_page(**settings):
        context = browser.new_context(**settings)
        contexts.append(context)
        page = context.new_page()
        page.asked, page.wrong = [], []
        page.on("request", lambda request: page.asked.append(request.url))
        page.on("pageerror", lambda error: page.wrong.append(str(error)))
        page.on("console", lambda message: page.wrong.append(message.text) if message.type == "error" else None)
        page.goto(str(client.base_url))
        expect(page.locator("#state")).to_have_text("live")
        return page

    yield open_page
    for context in contexts:
        context.close()


def test_it_follows_a_model(client, opened):
    page = opened()
    expect(page.locator("#numbers")).to_contain_text("100")
    learn(client, "m", *PAIRS[100:])
    expect(page.locator("#numbers")).to_contain_text("200")
    expect(page.locator("#error polyline")).to_have_count(2)  # the error and its bound
    expect(page.locator("#said")).to_contain_text("allows")
    expect(page.locator("#load polyline")).to_have_count(2)
    expect(page.locator("#confusion td")).to_have_count(4)
    expect(page.locator("#weights tr")).to_have_count(12)
    heaviest = next(iter(client.service.models["m"].state.learner.model.weights("no", top=1)))
    expect(page.locator("#weights th").first).to_have_text(heaviest)
    page.select_option("#models", "other")
    expect(page.locator("#numbers")).to_contain_text("regress")
    assert page.url.endswith("?model=other")
    page.go_back()
    expect(page.locator("#numbers")).to_contain_text("classify")
    page.reload()
    expect(page.locator("#models")).to_have_value("m")
    origin = str(client.base_url)
    assert all(url.startswith((origin, "data:")) for url in page.asked)
    assert page.wrong == []


def test_nothing_on_the_page_is_silent(browser, client, opened):
    """A model that is gone, broken JSON, a bound above 100 % and a matrix that is too wide are said."""
    page = opened()
    page.goto(f"{client.base_url}?model=gone")
    expect(page.locator("#gone")).to_have_text("There is no model 'gone': this is 'm'.")
    page.select_option("#models", "other")
    expect(page.locator("#gone")).to_have_text("")
    for text in ('{"a": 1,', "[1, 2", "{a: 1}"):
        page.fill("#x", text)
        page.click("#try button")
        expect(page.locator("#answer .wrong")).to_contain_text("not valid JSON")
    create(client, "hard", C=1000)
    learn(client, "hard", *[({"a": 1.0}, "xy"[k % 2]) for k in range(60)])
    page.select_option("#models", "hard")
    expect(page.locator("#said")).to_contain_text("which is above 100 % and excludes nothing yet")
    create(client, "many")
    learn(client, "many", *[({f"f{k % 30}": 1.0}, f"a label with a long name {k % 30}") for k in range(90)])
    page.select_option("#models", "many")
    expect(page.locator("#confusion-said")).to_contain_text("of 30 are shown")
    for width in (1200, 400):
        page.set_viewport_size({"width": width, "height": 800})
        learn(client, "many", ({"f0": 1.0}, "a label with a long name 0"))
        wait_until(lambda: page.locator("#confusion").evaluate("one => one.scrollWidth <= one.clientWidth"))


@pytest.mark.full
def test_nothing_flickers(client, opened):
    """No node of the page is replaced, hidden or shown while nothing changes."""
    page = opened()
    expect(page.locator("#said")).to_contain_text("allows")
    page.evaluate(
        """() => {
            window.changes = [];
            const named = (one) => one.target.id || one.target.nodeName;
            new MutationObserver((all) => window.changes.push(...all.map(named)))
                .observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
        }"""
    )
    for _ in range(2):  # the models are requested every five seconds, and the progress every second
        page.wait_for_event("request", lambda one: one.url.endswith("/v1/models"), timeout=1000 * TIMEOUT)
    moved = {"error", "load", "load-said"}  # charts move with the time
    assert set(page.evaluate("window.changes")) <= moved


@pytest.mark.full
def test_a_lost_connection(browser, tmp_path):
    with served(tmp_path) as client:
        create(client)
        learn(client, "m", *PAIRS)
        page = browser.new_page()
        page.goto(str(client.base_url))
        expect(page.locator("#state")).to_have_text("live")
    expect(page.locator("#state")).to_contain_text("connection lost since ")
    assert page.evaluate("document.body.classList.contains('stale')")
    expect(page.locator("#numbers")).to_contain_text("200")
    page.close()


@pytest.mark.full
def test_a_model_is_made_on_the_page(browser, tmp_path):
    with served(tmp_path) as client:
        page = browser.new_page()
        page.goto(str(client.base_url))
        expect(page.locator("#curl-create")).to_contain_text(f"curl {client.base_url}/v1/models")
        page.fill("#new-name", "mail")
        expect(page.locator("#curl-create")).to_contain_text('{"name":"mail","model":"AutoClassifier"}')
        page.press("#new-name", "Enter")
        expect(page.locator("#begin")).to_contain_text("/v1/models/mail/learn")
        learn(client, "mail", *PAIRS[:5])
        expect(page.locator("#begin")).to_be_hidden()
        page.close()


@pytest.mark.full
def test_a_prediction_with_the_keyboard(client, opened):
    page = opened()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "x"
    page.keyboard.type('{"f1": 2.5, "colour": "red"}')
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    predicted = predict(client, "m", {"f1": 2.5, "colour": "red"}).json()
    expect(page.locator("#answer .result")).to_have_text(predicted["predictions"][0])
    expect(page.locator("#answer tr")).to_have_count(5)  # scores of two labels, and two features
    page.fill("#x", "[1, 2]")
    page.press("#x", "Control+Enter")
    expect(page.locator("#answer .wrong")).to_contain_text("vector")


@pytest.mark.full
def test_the_leading_expert_is_named(client, opened):
    create(client, "experts", model="AutoClassifier")
    learn(client, "experts", *PAIRS)
    page = opened()
    page.select_option("#models", "m")
    expect(page.locator("#experts")).to_be_hidden()
    page.select_option("#models", "experts")
    experts = client.get("/v1/models/experts/progress").json()["experts"]
    expect(page.locator("#votes tbody tr")).to_have_count(len(experts))
    leader = next(one for one in experts if one["leads"])
    expect(page.locator("#expert-said")).to_contain_text(f"{leader['name']} leads")


@pytest.mark.full
def test_names_are_text(client, opened):
    create(client, "marked")
    learn(client, "marked", ({MARKUP: 1.0}, MARKUP), ({"b": 1.0}, "x"), ({MARKUP: 1.0}, MARKUP))
    page = opened()
    page.select_option("#models", "marked")
    expect(page.locator("#weights")).to_contain_text(MARKUP)
    assert page.locator("img").count() == 0
    assert page.title() == "onmargin serve"


@pytest.mark.full
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_dark_and_light_at_the_width_of_a_phone(opened, scheme):
    page = opened(color_scheme=scheme, viewport={"width": 360, "height": 740})
    expect(page.locator("#error polyline").first).to_be_attached()
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    brightness = sum(int(part) for part in background.strip("rgb()").split(",")) / 3
    assert (brightness < 60) == (scheme == "dark")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


@pytest.mark.full
def test_long_names_fit_a_phone(client, opened):
    name, label = "a-model-with-a-long-name." + "x" * 39, "L" * 250
    create(client, name)
    learn(client, name, ({"w" * 500: 1.0}, label), ({"b": 1.0}, "x"), ({"w" * 500: 2.0}, label))
    page = opened(viewport={"width": 360, "height": 740})
    page.select_option("#models", name)
    expect(page.locator("#weights")).to_contain_text("w" * 47 + "…")
    page.fill("#x", "b")
    page.click("#try button")
    expect(page.locator("#answer tr").first).to_be_attached()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.locator("main th").evaluate_all("all => Math.max(...all.map((one) => one.textContent.length))") == 48


@pytest.mark.full
def test_a_token_is_requested(browser, tmp_path):
    tokens = tmp_path / "tokens"
    tokens.write_text(line("read", "secret"))
    with served(tmp_path / "data", tokens=Tokens.read(tokens)) as client:
        page = browser.new_page()
        page.goto(str(client.base_url))
        expect(page.locator("#enter")).to_be_visible()
        expect(page.locator("main")).to_be_hidden()
        page.fill("#token", "wrong")
        page.press("#token", "Enter")
        expect(page.locator("#enter-said")).to_have_text("This token is not accepted.")
        page.fill("#token", "secret")
        page.press("#token", "Enter")
        expect(page.locator("#none")).to_be_visible()
        expect(page.locator("#enter")).to_be_hidden()
        expect(page.locator("#curl-create")).to_contain_text("Authorization: Bearer $ONMARGIN_TOKEN")
        expect(page.locator("#curl-create")).not_to_contain_text("secret")
        page.close()
