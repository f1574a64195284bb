import { expect, it } from 'vitest';
import { secretsAmong } from '../../src/process/child-environment.ts';

// @conforms tools.40
it.each([
  ['OPENAI_API_KEY', 'CODEX_API_KEY', 'CODEX_ACCESS_TOKEN', 'AWS_SECRET_ACCESS_KEY', 'github_token', 'TOKEN'],
  ['CLIENT_SECRET', 'PGPASSWORD', 'DB_PASSWORD', 'DB_PASSWORD_FILE', 'npm_config_password'],
])('treats %s, %s and similar variables of an agent as secrets', (...names) => {
  for (const name of names) expect(secretsAmong({ PATH: '/bin', [name]: 'v' }), name).toEqual(['v']);
});

it('treats only names that end with a secret word as secrets', () => {
  const names = ['PATH', 'OPENAI_BASE_URL', 'KEYBOARD', 'MONKEY', 'TOKENIZERS_PARALLELISM', 'OPENAI_KEY_FILE', 'TERM'];
  expect(secretsAmong(Object.fromEntries(names.map((name) => [name, name])))).toEqual([]);
});
