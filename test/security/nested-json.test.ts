// @module-tag one-way
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { readFrame } from '../../src/agent/codex/wire/frame.ts';
import { mostJsonContainers, mostJsonDepth, parseJson } from '../../src/core/text/parse-json.ts';
import { errorsIn, parsedOrNull } from '../../src/tracker/linear/call/graphql-errors.ts';
import { begun } from '../orchestrator/scene.ts';
import { apiOf, projectOf } from '../server/api/api-scene.ts';

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

it('refuses deep and wide JSON before it is parsed', () => {
  expect(parseJson(nested(mostJsonDepth))).toHaveLength(1);
  expect(() => parseJson(nested(mostJsonDepth + 1))).toThrow(SyntaxError);
  expect(() => parseJson(`${`{"a":`.repeat(500)}1${'}'.repeat(500)}`)).toThrow(SyntaxError);
  expect(() => parseJson(`[${'[],'.repeat(mostJsonContainers)}1]`)).toThrow(SyntaxError);
});

it('counts no bracket inside a string, however its quotes are escaped', () => {
  for (const text of ['['.repeat(5_000), '\\'.repeat(501), `"${'{'.repeat(999)}\\"`, `\\\\"${'['.repeat(999)}`])
    expect(parseJson(JSON.stringify({ text, more: [text] }))).toEqual({ text, more: [text] });
  // What follows a string that ends with a backslash is counted.
  expect(() => parseJson(`["a\\\\",${nested(500)}]`)).toThrow(SyntaxError);
  expect(() => parseJson(`["${'x'.repeat(500)}`)).toThrow(SyntaxError);
});

it('bounds the memory and the time of an answer of a tracker and of a line of an agent', () => {
  const hostile = nested(7_000_000);
  const before = process.memoryUsage.rss();
  expect(parsedOrNull(hostile)).toBeNull();
  expect(errorsIn(hostile)).toEqual([]);
  expect(readFrame(hostile)).toBeNull();
  expect(process.memoryUsage.rss() - before).toBeLessThan(200 * 1024 * 1024);
});

it('is read in no other way from agents, trackers, GitHub and callers', () => {
  const root = path.join(import.meta.dirname, '../../src');
  const files = globSync('{agent,github,http,pulls,server,tools,tracker}/**/*.ts', { cwd: root });
  const others = files.filter((file) => /\bJSON\.parse\(|\.json\(\)/.test(readFileSync(path.join(root, file), 'utf8')));
  // These read files that Baton wrote itself.
  const own = ['agent/rehearsal/memory.ts', 'server/api/present/transcript-payloads.ts', 'server/token-file.ts'];
  expect(others.toSorted()).toEqual(own);
});

it('refuses it in a request to the API', async () => {
  const stage = await begun({ issues: [] });
  const { url } = await apiOf([projectOf(stage, 'own')]);
  const headers = { 'content-type': 'application/json' };
  const body = `{"kind":"pause","data":${nested(300_000)}}`;
  const answer = await fetch(`${url}/api/v1/commands`, { method: 'POST', headers, body });
  expect({ status: answer.status, json: await answer.json() }).toMatchObject({
    status: 400,
    json: { error: { code: 'bad_request' } },
  });
});
