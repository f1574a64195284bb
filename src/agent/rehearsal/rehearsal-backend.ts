import { passed } from '../../core/finding.ts';
import type { AgentBackend } from '../backend.ts';
import { rehearsalHome } from './memory.ts';
import { createRehearsalAgent } from './rehearsal-agent.ts';
import { rehearsalSpeed } from './speed.ts';

/** A scripted stand-in for an agent, to try Baton out without one. */
export const rehearsalBackend: AgentBackend = {
  name: 'rehearsal',
  environment: [rehearsalSpeed],
  homeVariable: rehearsalHome,
  reports: 'tokens',
  create: ({ agent: { readTimeoutMs, turnTimeoutMs } }, parts, { nodePath, program }) =>
    createRehearsalAgent({ nodePath, program, readTimeoutMs, turnTimeoutMs }, parts),
  doctor: async () => [passed('agent_program', 'rehearsal: included in Baton')],
  init: {
    about: 'scripted stand-in',
    questions: [],
    settings: () => ({}),
    writesTemporaryFiles: false,
  },
  needs: () => ({ paths: [], hosts: [] }),
  hasReadOnlyMode: false,
  commitsWork: false,
  docs: 'docs/configuration.md#the-scripted-agent',
};
