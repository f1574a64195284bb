import path from 'node:path';
import type { IsolationPlan } from '../../../src/process/isolation/isolation-plan.ts';
import { type IsolationPlace, planIsolation } from '../../../src/process/isolation/plan-isolation.ts';

/** The isolation of a user whose home, state, workspaces and repository `source` are in this folder. */
export function isolationIn(folder: string): (place: IsolationPlace) => IsolationPlan {
  const at = (name: string): string => path.join(folder, name);
  const ground = {
    ...{ homes: [at('home')], stateFolders: [at('state')], workspaceRoot: at('workspaces'), reads: [at('source')] },
    ...{ searchPath: '', gitConfiguration: '', readSetting: [], writeSetting: [], hasLayers: false },
  };
  return (place) => planIsolation(ground, place);
}
