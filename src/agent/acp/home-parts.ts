import type { HomeParts } from '../backend.ts';
import { ownFolder } from '../own-folder.ts';

/** Of the data folder of OpenCode. One database has all conversations, so an isolated workspace gets its own. */
export function opencodeHomeParts(workspace: string): HomeParts {
  return {
    logins: ['auth.json', 'mcp-auth.json'],
    conversations: { baton: ownFolder(workspace) },
    settings: ['bin'],
    variables: { OPENCODE_DB: 'baton/opencode.db' },
  };
}

/** Of the folder of Gemini, which names the folders of conversations itself. */
export function geminiHomeParts(workspace: string): HomeParts {
  return {
    logins: ['oauth_creds.json', 'google_accounts.json', 'mcp-oauth-tokens.json', 'gemini-credentials.json'],
    conversations: { tmp: `tmp/${ownFolder(workspace)}` },
    settings: [
      ...['settings.json', 'GEMINI.md', '.env', 'commands', 'extensions', 'skills', 'agents', 'policies'],
      ...['trustedFolders.json', 'installation_id', 'projects.json'],
    ],
  };
}
