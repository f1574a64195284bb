import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { issue } from '../../fake/issues.ts';
import { begun } from '../../orchestrator/scene.ts';
import { apiOf, projectOf } from './api-scene.ts';

describe('the OpenAPI document', () => {
  // @conforms api.28, api.42
  it('lists every address once, and the answers fit its schemas', async () => {
    const stage = await begun({ issues: [issue({ id: '1' }), issue({ id: '2' })] });
    const { ask, api } = await apiOf([projectOf(stage)]);
    const { json: document } = await ask('GET', '/api/v1/openapi.json');
    expect(document.openapi).toBe('3.1.0');
    const named = Object.entries<Record<string, unknown>>(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const served = api.routes.map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`);
    expect(named.toSorted()).toEqual([...served, 'GET /api/v1/events'].toSorted());
    expect(new Set(served).size).toBe(served.length);

    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    let checked = 0;
    for (const [path, { get }] of Object.entries<Record<string, Operation>>(document.paths)) {
      if (get === undefined || path === '/api/v1/events') continue;
      const address = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) =>
        name === 'project' ? 'test' : (known[name] ?? '1'),
      );
      const { status, json } = await ask('GET', `${address}${path.endsWith('/search') ? '?q=title' : ''}`);
      const schema = get.responses[String(status)]?.content['application/json'].schema;
      // What is not part of this scene fails inside, and is told as that.
      if (status === 500) continue;
      const validate = ajv.compile(schema ?? { ...document.components.schemas.Refusal });
      expect(validate(json) ? [] : validate.errors, `${path} ${status}`).toEqual([]);
      checked += 1;
    }
    expect(checked).toBeGreaterThan(12);

    const refused = await ask('POST', '/api/v1/projects/test/commands', { kind: 'issue_steer', issue: 7 });
    expect(refused).toMatchObject({ status: 422, json: { error: { problems: expect.any(Array) } } });
    const validate = ajv.compile(document.components.schemas.Refusal);
    expect(validate(refused.json) ? [] : validate.errors).toEqual([]);
  });
});

const known: Readonly<Record<string, string>> = { issue: '1', issue_identifier: 'T-1' };

interface Operation {
  readonly responses: Readonly<
    Record<string, { readonly content: { 'application/json': { readonly schema: object } } }>
  >;
}
