import { storeConformance } from '../conformance/store.ts';
import { boardConformance } from '../conformance/store-board.ts';
import { claimsConformance } from '../conformance/store-claims.ts';
import { readsConformance } from '../conformance/store-reads.ts';
import { runsConformance } from '../conformance/store-runs.ts';
import { schedulingConformance } from '../conformance/store-scheduling.ts';
import { engines } from './engines.ts';

for (const engine of engines) {
  storeConformance(engine);
  boardConformance(engine);
  claimsConformance(engine);
  schedulingConformance(engine);
  runsConformance(engine);
  readsConformance(engine);
}
