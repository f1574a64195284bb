import { describe, expect, it } from 'vitest';
import { givenMemory, keysIn, problemsIn, refusal } from './given.ts';

const shownUrl = (workflow: ReturnType<typeof givenMemory>) =>
  workflow.described.find(({ key }) => key === 'store.url');

describe('store and project', () => {
  it('have defaults: the folder names the project, and the state folder contains the store', () => {
    const { settings } = givenMemory('');
    expect(settings.project.name).toBe('repo');
    expect(settings.store).toEqual({ url: null, retentionDays: 90, leaseMs: 30_000 });
  });

  it('take the store from the file, from a variable in the file, or from BATON_DATABASE_URL', () => {
    const env = { BATON_DATABASE_URL: 'postgres://u:outside@h/d', DB: 'postgres://u:named@h/d' };
    const urlOf = (text: string) => givenMemory(text, env).settings.store.url?.reveal();
    expect(urlOf('')).toBe('postgres://u:outside@h/d');
    expect(urlOf('store: {url: $DB}')).toBe('postgres://u:named@h/d');
    expect(urlOf('store: {url: "sqlite:/var/baton.db"}')).toBe('sqlite:/var/baton.db');
  });

  it('never show the store address, and warn about a password in plain text', () => {
    const workflow = givenMemory('store: {url: "postgres://u:hunter2@h/d"}');
    expect(shownUrl(workflow)).toEqual({ key: 'store.url', value: '[secret]', origin: 'file' });
    expect(JSON.stringify(workflow)).not.toContain('hunter2');
    expect(workflow.warnings.map(({ code }) => code)).toEqual(['literal_secret', 'insecure_store']);
  });

  it('withhold the variables of the store address from every agent', () => {
    const workflow = givenMemory('store: {url: $DB}', { DB: 'postgres://h/d' });
    expect(workflow.settings.secretEnvironment).toEqual(['BATON_DATABASE_URL', 'DB']);
    expect(keysIn(refusal(() => givenMemory('agent: {env: [BATON_DATABASE_URL]}')))).toEqual(['agent.env']);
  });

  it.each([
    ['another engine', 'store: {url: "mysql://h/d"}', 'store.url', 'unsupported_scheme'],
    ['a variable that is not set', 'store: {url: $NOWHERE}', 'store.url', 'not_set'],
    ['a retention below zero', 'store: {retention_days: -1}', 'store.retention_days', 'wrong_value'],
    ['a lease too short to be renewed in time', 'store: {lease_ms: 2999}', 'store.lease_ms', 'wrong_value'],
    ['a blank project', 'project: {name: " "}', 'project.name', 'wrong_value'],
  ])('reject %s', (_what, text, key, problem) => {
    const error = refusal(() => givenMemory(text));
    expect(error.code).toBe('invalid_workflow_config');
    expect(problemsIn(error)).toMatchObject([{ key, details: { problem } }]);
  });
});
