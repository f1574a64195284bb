import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withoutSecrets } from '../../../src/core/text/secret-text.ts';

describe('a text that is shown to others', () => {
  it.each([
    ['OPENAI_API_KEY=sk-abcdefgh12345678 codex app-server', 'OPENAI_API_KEY=[secret] codex app-server'],
    ['export NPM_TOKEN=abc123def456', 'export NPM_TOKEN=[secret]'],
    ['export PASSWORD="two words"; make', 'export PASSWORD=[secret]; make'],
    ["curl -H 'Authorization: Bearer ghp_abcdefgh12345678' x", "curl -H 'Authorization: Bearer [secret]' x"],
    [
      'git clone https://me:pw@host/x?private_token=glpat-abcdefgh1',
      'git clone https://[secret]@host/x?private_token=[secret]',
    ],
    ['deploy --token abcdef --yes', 'deploy --token [secret] --yes'],
    ['deploy --api-key=abcdef --yes', 'deploy --api-key=[secret] --yes'],
    ['curl https://hooks.slack.com/services/T0/B0/xyz', 'curl https://hooks.slack.com/services/[secret]'],
    ['echo eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.sig', 'echo [secret]'],
  ])('does not contain the secret of %j', (text, shown) => {
    expect(withoutSecrets(text)).toBe(shown);
  });

  it.each([
    'codex app-server --config model="gpt-5.5"',
    'OPENAI_API_KEY=$OPENAI_API_KEY codex app-server',
    'curl -H "Authorization: Bearer $TOKEN" https://host/x',
    'limits.tokens_per_day',
    'npm ci && npm test -- --reporter=dot',
    'the token is in the key chain',
    '/home/me/.config/tokens.json',
  ])('stays unchanged without a secret: %j', (text) => {
    expect(withoutSecrets(text)).toBe(text);
  });

  // @conforms api.43
  it('never shows the value of a name that means a secret', () => {
    const names = fc.constantFrom('API_KEY', 'MY_TOKEN', 'DB_PASSWORD', 'CLIENT_SECRET');
    const secrets = fc.stringMatching(/^[A-Za-z0-9+/]{9,40}$/);
    const words = fc.array(fc.constantFrom('export', 'env', 'sh -c', '&&', ';', 'make'), { maxLength: 4 });
    fc.assert(
      fc.property(words, names, secrets, words, (before, name, secret, after) => {
        const shown = withoutSecrets([...before, `${name}=${secret}`, ...after].join(' '));
        expect(shown).not.toContain(secret);
        expect(withoutSecrets(shown)).toBe(shown);
      }),
    );
  });
});
