import { expect, it } from 'vitest';
import { gitConfigurationText } from '../../src/daemon/git-configuration.ts';

const listed = (entries: Readonly<Record<string, string>>): string =>
  Object.entries(entries)
    .map(([key, value]) => `${key}\n${value}\0`)
    .join('');

it('keeps who commits and how, with any character in a value', () => {
  const text = gitConfigurationText(
    listed({ 'user.name': 'A "B" \\ C', 'pull.rebase': 'true', 'filter.lfs.clean': 'git-lfs clean' }),
  );
  expect(text).toBe(
    '[user]\n\tname = "A \\"B\\" \\\\ C"\n[pull]\n\trebase = "true"\n[filter "lfs"]\n\tclean = "git-lfs clean"\n',
  );
});

it('drops everything that may hold a login, name a program or need a hidden key', () => {
  const secrets = {
    'credential.helper': 'store',
    'credential.https://example.org.username': 'me',
    'http.extraheader': 'Authorization: canary',
    'http.proxy': 'http://me:canary@proxy',
    'http.https://example.org.extraheader': 'canary',
    'url.https://canary@example.org/.insteadof': 'https://example.org/',
    'include.path': '~/.gitsecrets',
    'user.signingkey': 'canary',
    'commit.gpgsign': 'true',
    'gpg.program': 'evil',
    'core.sshcommand': 'evil',
    'core.hookspath': '/home/me/hooks',
    'core.fsmonitor': 'evil',
    'alias.x': '!evil',
    'filter.evil.clean': 'evil',
    'diff.external': 'evil',
    'github.token': 'canary',
  };
  expect(gitConfigurationText(listed(secrets))).toBe('');
});
