import type {
  AgentSettings,
  LimitSettings,
  NotifySettings,
  PollingSettings,
  Settings,
  TrackerSettings,
  WorkspaceSettings,
} from '../../src/core/settings.ts';
import { givenMemory } from '../workflow/given.ts';

/** The settings that a test may change; `command` is the key of the backend of that name. */
export interface SettingChanges {
  readonly agent?: Partial<AgentSettings> & { readonly command?: string };
  readonly tracker?: Partial<TrackerSettings>;
  readonly board?: Partial<Settings['board']>;
  readonly limits?: Partial<LimitSettings>;
  readonly workspace?: Partial<WorkspaceSettings>;
  readonly polling?: Partial<PollingSettings>;
  readonly notify?: Partial<NotifySettings>;
  readonly intervalMs?: number;
}

const usual = givenMemory('agent: {backend: rehearsal}').settings;

/** The settings of an empty workflow file for the memory tracker and the stand-in, with what a test wants different. */
export function settings(changes: SettingChanges = {}): Settings {
  const { command = null, ...agent } = changes.agent ?? {};
  const { intervalMs = usual.polling.intervalMs } = changes;
  return {
    ...usual,
    project: { name: 'test' },
    tracker: { ...usual.tracker, trustedAuthors: [], ...changes.tracker },
    board: { ...usual.board, ...changes.board },
    polling: { ...usual.polling, intervalMs, ...changes.polling },
    workspace: { ...usual.workspace, root: '/nowhere', copyFrom: '/nowhere', ...changes.workspace },
    agent: { ...usual.agent, accounts: [...usual.agent.accounts].reverse(), ...agent },
    limits: { ...usual.limits, ...changes.limits },
    notify: { ...usual.notify, ...changes.notify },
    backends: { ...usual.backends, command: { command } },
    secretEnvironment: [],
  };
}
