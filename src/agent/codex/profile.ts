import type { BackendProfile } from '../../core/backend-profile.ts';
import { codexSection } from './settings.ts';

/** The backend `codex`, as the workflow has to know it. */
export const codexProfile: BackendProfile = {
  name: 'codex',
  settings: codexSection,
  environment: ['CODEX_*', 'OPENAI_*'],
  homeVariable: 'CODEX_HOME',
};
