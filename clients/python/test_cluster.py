"""Compares simulations on a local Ray, a local Dask and a pool of threads with those of one process.

Run where the package `riskbreaker` is installed; a cluster whose package is missing is skipped. `TRIALS=1000000` plays more games.
"""

from __future__ import annotations

import json
import os
import unittest
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from importlib.util import find_spec
from typing import Any, List

import riskbreaker
from riskbreaker import cluster
from riskbreaker.program import NAME, resolve
from riskbreaker.simulation import sim_command

ray: Any = import_module("ray") if find_spec("ray") else None
distributed: Any = import_module("distributed") if find_spec("distributed") else None

TRIALS = int(os.environ.get("TRIALS", "20000"))
RULES = "riskbreaker-0.0.1"


class Clusters(unittest.TestCase):
    command: List[str]
    whole: bytes

    @classmethod
    def setUpClass(cls) -> None:
        cls.command = sim_command("duel", RULES, [], TRIALS, 3, None, None, None, 1, None)
        cls.whole = cluster._output([resolve(NAME), *cls.command])

    def equals_one_process(self, on: cluster.Spread, parts: int) -> None:
        self.assertEqual(cluster.report(self.command, parts, on), self.whole)
        found = cluster.simulate("duel", rules=RULES, trials=TRIALS, seed=3, parts=parts, on=on)
        self.assertEqual(found.trials, TRIALS)
        self.assertEqual(found.report, json.loads(self.whole))

    def test_a_pool_of_threads_gives_the_bytes_of_one_process(self) -> None:
        with ThreadPoolExecutor(2) as pool:
            self.equals_one_process(pool.map, 5)

    def test_parts_that_come_in_another_order_merge_as_well(self) -> None:
        self.equals_one_process(lambda task, numbers: [task(number) for number in reversed(numbers)], 3)

    def test_a_part_that_fails_fails_the_whole_with_its_reason(self) -> None:
        with ThreadPoolExecutor(2) as pool, self.assertRaisesRegex(riskbreaker.CommandFailed, "no scenario `nowhere`"):
            cluster.simulate("nowhere", rules=RULES, trials=10, parts=2, on=pool.map)

    @unittest.skipIf(ray is None, "ray is not installed")
    def test_ray_gives_the_bytes_of_one_process(self) -> None:
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        try:
            self.equals_one_process(cluster.ray(), 4)
        finally:
            ray.shutdown()

    @unittest.skipIf(distributed is None, "distributed is not installed")
    def test_dask_gives_the_bytes_of_one_process(self) -> None:
        options: Any = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
        with distributed.LocalCluster(**options) as local, distributed.Client(local) as client:
            self.equals_one_process(cluster.dask(client), 4)
            self.assertEqual(len(client.scheduler_info(n_workers=-1)["workers"]), 2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
