import { storeConformance } from '../conformance/store.ts';
import { boardConformance } from '../conformance/store-board.ts';
import { runsConformance } from '../conformance/store-runs.ts';
import { schedulingConformance } from '../conformance/store-scheduling.ts';
import { engines } from './engines.ts';

for (const engine of engines) {
  storeConformance(engine);
  boardConformance(engine);
  schedulingConformance(engine);
  runsConformance(engine);
}
