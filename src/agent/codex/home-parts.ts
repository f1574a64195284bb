import type { HomeParts } from '../backend.ts';
import { ownFolder } from '../own-folder.ts';

/** Of the folder of Codex, which other programs around it use too. Codex finds a conversation by its id anywhere below `sessions`, so also a person who continues one by hand. */
export function codexHomeParts(workspace: string): HomeParts {
  return {
    logins: ['auth.json', '.credentials.json'],
    conversations: {
      sessions: `sessions/${ownFolder(workspace)}`,
      // Says that a conversation is in use, also to a person.
      'thread-writer-locks': 'thread-writer-locks',
    },
    settings: [
      ...[
        'config.toml',
        'requirements.toml',
        'managed_config.toml',
        '.env',
        'AGENTS.md',
        'AGENTS.override.md',
        'rules',
      ],
      ...[
        'prompts',
        'skills',
        'plugins',
        'agents',
        'hooks.json',
        'installation_id',
        'models_cache.json',
        'version.json',
      ],
    ],
  };
}
