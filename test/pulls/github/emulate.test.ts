import { createEmulator, type Emulator } from 'emulate';
import { afterEach, expect, it } from 'vitest';
import { Secret } from '../../../src/core/text/secret.ts';
import { githubHost } from '../../../src/pulls/github/github-host.ts';
import { branch, pullOf } from '../pull-scene.ts';
import { githubScene, stopGithubs } from './github-scene.ts';

const token = 'ghp_tokenForTheEmulator';
let emulator: Emulator;

afterEach(async () => {
  await emulator.close();
  await stopGithubs();
});

/** A server of GitHub's REST API that is not ours. It has no GraphQL and no git: the branches are answered from its API. */
async function emulated() {
  emulator = await createEmulator({
    service: 'github',
    port: 0,
    seed: {
      tokens: { [token]: { login: 'admin', scopes: ['repo'] } },
      github: {
        users: [{ login: 'admin' }, { login: 'ada' }],
        repos: [{ owner: 'admin', name: 'app', auto_init: true }],
      },
    },
  });
  const api = async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await fetch(`${emulator.url}/repos/admin/app${path}`, { method, headers, ...sent });
    return answer.status === 204 ? null : await answer.json();
  };
  const tipOf = async (name: string): Promise<string | undefined> =>
    (await api('GET', `/git/ref/heads/${name}`))?.object?.sha;
  const main = await tipOf('main');
  const { tree } = await api('GET', `/git/commits/${main}`);
  const made = await api('POST', '/git/commits', { message: 'a change', tree: tree.sha, parents: [main] });
  await api('POST', '/git/refs', { ref: `refs/heads/${branch}`, sha: made.sha });
  const scene = await githubScene();
  const parts = scene.parts({
    apiUrl: emulator.url,
    repository: 'admin/app',
    token: new Secret(token),
    labels: ['baton'],
    reviewers: ['ada'],
    draft: true,
  });
  const { ask } = parts.git;
  const host = githubHost.create({
    ...parts,
    git: {
      ...parts.git,
      ask: async (call) => {
        if (call.args[0] !== 'ls-remote') return ask(call);
        const names = call.args.filter((each) => each.startsWith('refs/heads/'));
        const tips = await Promise.all(names.map((name) => tipOf(name.slice('refs/heads/'.length))));
        const lines = names.flatMap((name, nth) => (tips[nth] === undefined ? [] : [`${tips[nth]}\t${name}\n`]));
        return { code: 0, stdout: lines.join(''), stderr: '' };
      },
    },
  });
  const doctor = () =>
    githubHost.doctor?.({ ...parts, review: { ...parts.review, push: false } }, { base: 'main', branch });
  return { host, api, doctor, head: made.sha as string };
}

it('a server of others takes a change once, with its words, and closes it', async () => {
  const { host, api, head } = await emulated();
  const change = { branch, base: 'main', title: 'Say hello', body: 'More words.', receipt: '| Tokens | 5 |' };
  const opened = await host.open(change);
  expect(opened).toMatchObject({ headCommit: head });
  expect(await host.open(change)).toEqual(opened);
  expect(await host.findByBranch(branch, 'main')).toEqual(opened);
  expect(await host.findByBranch('none', 'main')).toBeNull();
  const pulls = await api('GET', '/pulls?state=all');
  expect(pulls).toMatchObject([
    { number: opened.hostNumber, draft: true, labels: [{ name: 'baton' }], requested_reviewers: [{ login: 'ada' }] },
  ]);
  await host.update(pullOf(opened), { title: 'Other', body: 'Better words.' });
  expect(await api('GET', `/pulls/${opened.hostNumber}`)).toMatchObject({
    title: 'Other',
    body: expect.stringContaining('Better words.'),
  });
  await host.close(pullOf(opened));
  await host.close(pullOf(opened));
  expect(await api('GET', `/pulls/${opened.hostNumber}`)).toMatchObject({ state: 'closed' });
  // The same head is not proposed again.
  expect(await host.open(change)).toMatchObject({ hostNumber: opened.hostNumber });
  expect(await api('GET', '/pulls?state=all')).toHaveLength(1);
});

it('a server of others has the verdict of a judge once, as a comment', async () => {
  const { host, api, head } = await emulated();
  const pull = pullOf(await host.open({ branch, base: 'main', title: 't', body: '' }));
  const verdict = { commit: head, verdict: 'rejected', key: 'run-7', text: 'Wrong.', counts: false } as const;
  const id = await host.remote?.sayVerdict(pull, verdict);
  expect(await host.remote?.sayVerdict(pull, verdict)).toBe(id);
  const reviews = await api('GET', `/pulls/${pull.hostNumber}/reviews`);
  expect(reviews).toMatchObject([{ id: Number(id), state: 'COMMENTED', body: expect.stringContaining('Wrong.') }]);
});

it('a server of others is what baton doctor wants, and gets nothing written', async () => {
  const { api, doctor } = await emulated();
  expect((await doctor())?.filter(({ status }) => status !== 'ok')).toEqual([]);
  expect(await api('GET', '/pulls?state=all')).toEqual([]);
});
