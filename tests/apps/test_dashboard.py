"""The dashboard in `deploy` draws metrics that the service has."""

import json
import re
from pathlib import Path

from tests.apps.serving import served

DASHBOARD = Path(__file__).parents[2] / "deploy/grafana.json"


def test_every_metric_of_the_dashboard_exists(tmp_path):
    with served(tmp_path) as http:
        http.post("/v1/models", json={"name": "a", "task": "classify"}).raise_for_status()
        http.post("/v1/models/a/predict", json={"examples": [{"x": "text"}]}).raise_for_status()
        there = set(re.findall(r"^(onmargin_\w+)", http.get("/metrics").text, re.MULTILINE))
    panels = json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]
    drawn = {
        name for panel in panels for target in panel["targets"] for name in re.findall(r"onmargin_\w+", target["expr"])
    }
    assert len({panel["id"] for panel in panels}) == len(panels) == 8
    assert drawn <= there
    assert "onmargin_mistakes" in drawn
