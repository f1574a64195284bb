import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Secret } from '../../src/core/text/secret.ts';
import { givenLinear, refusal } from './given.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'baton-secret-files-'));

function written(name: string, text: string): string {
  const file = path.join(folder, name);
  writeFileSync(file, text);
  return file;
}

const keyWith = (env: Record<string, string>, apiKey = '$LINEAR_API_KEY'): string => {
  const { provider } = givenLinear(`{api_key: ${apiKey}, project_slug: p}`, env).settings.tracker;
  return (provider.api_key as Secret).reveal();
};

describe('a secret', () => {
  it('comes from the file that the variable with the ending _FILE names', () => {
    expect(keyWith({ LINEAR_API_KEY_FILE: written('key', 'lin_from_file\n') })).toBe('lin_from_file');
    expect(keyWith({ MY_KEY_FILE: written('other', 'lin_other\n') }, '$MY_KEY')).toBe('lin_other');
  });

  it('comes from the systemd credential with the name of the variable', () => {
    written('LINEAR_API_KEY', 'lin_credential');
    expect(keyWith({ CREDENTIALS_DIRECTORY: folder })).toBe('lin_credential');
  });

  it('comes from the variable itself first, then from its file, then from the credential', () => {
    written('LINEAR_API_KEY', 'lin_credential');
    const file = { LINEAR_API_KEY_FILE: written('key', 'lin_from_file'), CREDENTIALS_DIRECTORY: folder };
    expect(keyWith({ ...file, LINEAR_API_KEY: 'lin_own' })).toBe('lin_own');
    expect(keyWith(file)).toBe('lin_from_file');
  });

  it('in a file that is missing, a folder or too long is an error that names the file and the variable', () => {
    for (const file of [path.join(folder, 'missing'), folder, written('long', 'x'.repeat(65 * 1024))]) {
      const error = refusal(() => keyWith({ LINEAR_API_KEY_FILE: file }));
      expect(error).toMatchObject({ code: 'secret_file_unreadable', details: { file, variable: 'LINEAR_API_KEY' } });
    }
  });

  it('is missing where neither the variable, a file nor a credential is there', () => {
    const env = { CREDENTIALS_DIRECTORY: path.join(folder, 'nowhere') };
    expect(refusal(() => keyWith(env)).code).not.toBe('secret_file_unreadable');
  });
});
