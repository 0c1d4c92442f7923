"""mini-swe-agent, supervised: python agent.py "fix the failing tests"."""

import os
import sys
from pathlib import Path

import minisweagent
import yaml
from minisweagent.agents.default import DefaultAgent
from minisweagent.environments.local import LocalEnvironment
from minisweagent.models.litellm_model import LitellmModel

from interlock.adapters.mini_swe_agent import supervise

config = yaml.safe_load((Path(minisweagent.__file__).parent / "config" / "default.yaml").read_text())
model = LitellmModel(
    model_name=f"openai/{os.environ.get('MODEL', 'gpt-5')}", cost_tracking="ignore_errors", **config["model"]
)
agent = DefaultAgent(model, LocalEnvironment(timeout=3600), **config["agent"])
result = supervise(agent, workspace=".").run(sys.argv[1])
print(agent.messages[-2].get("content") if result["exit_status"] == "Submitted" else agent.messages[-1]["content"])
