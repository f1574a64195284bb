import { mkdtemp } from 'node:fs/promises';
import path from 'node:path';
import { BatonError } from '../core/baton-error.ts';
import type { SessionRequest } from './agent.ts';

/** A session of `baton doctor`: it has no turn, so no model is called. */
export function trialRequest(runId: string, workspace: string, more: Partial<SessionRequest>): SessionRequest {
  return {
    runId,
    workspace,
    threadId: null,
    writableRoots: [],
    title: '',
    env: {},
    recovery: null,
    toolAddress: null,
    ask: async () => null,
    onProcess: () => {},
    isStillOurs: () => true,
    onEvent: () => {},
    tools: {
      tools: [],
      call: async () => {
        throw new BatonError('unsupported_tool_call', 'There are no tools in a check.');
      },
    },
    ...more,
  };
}

/** A new folder in the first of these folders that is writable. The caller removes it. */
export async function makeTrialFolder([folder, ...others]: readonly string[]): Promise<string> {
  try {
    return await mkdtemp(path.join(folder ?? '', '.baton-doctor-'));
  } catch (error) {
    if (others.length === 0) throw error;
    return makeTrialFolder(others);
  }
}
