import type { BackendProfile } from '../../core/backend-profile.ts';
import { codexSection } from './settings.ts';

/** The facts about the backend `codex` that the workflow file depends on. */
export const codexProfile: BackendProfile = {
  name: 'codex',
  settings: codexSection,
  environment: ['CODEX_*', 'OPENAI_*'],
  homeVariable: 'CODEX_HOME',
  reports: 'tokens',
};
