"""mini-swe-agent as it comes, that knows nothing of us: plain_mini.py TASK."""

import os
import sys
from pathlib import Path

import minisweagent
import yaml
from minisweagent.agents.default import DefaultAgent
from minisweagent.environments.local import LocalEnvironment
from minisweagent.models.litellm_model import LitellmModel

config = yaml.safe_load((Path(minisweagent.__file__).parent / "config" / "default.yaml").read_text())
model = LitellmModel(model_name=f"openai/{os.environ['MODEL']}", cost_tracking="ignore_errors", **config["model"])
agent = DefaultAgent(model, LocalEnvironment(timeout=3600), **config["agent"])
agent.run(sys.argv[1])
print(agent.messages[-2].get("content"))
