import type { BackendProfile } from '../../core/backend-profile.ts';

/** The backend `codex`, as the workflow has to know it. */
export const codexProfile: BackendProfile = {
  name: 'codex',
  // `codex.command` has a default, so nothing has to be set.
  requiredKeys: [],
  environment: ['CODEX_*', 'OPENAI_*'],
  homeVariable: 'CODEX_HOME',
};
