"""The process of a job, with a learner that takes its time: 20 steps a second, as many as SLOW_STEPS says."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "runs"))

from slow import Slow

from fernn.runs import METHODS, Method
from fernn.studio import child

METHODS["fernn"] = Method(Slow, "slow")
sys.exit(child.main())
