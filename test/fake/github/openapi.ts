import { readFileSync } from 'node:fs';
import { Ajv, type ValidateFunction } from 'ajv';

/** What an operation of GitHub's OpenAPI description says, as far as the fake uses it. */
interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly examples: Readonly<Record<string, { readonly value: unknown }>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
  };
}

interface Operation {
  readonly parameters?: readonly (Parameter | { readonly $ref: string })[];
  readonly requestBody?: unknown;
  readonly responses: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
}

let known: { readonly description: Description; readonly ajv: Ajv } | undefined;

function load(): NonNullable<typeof known> {
  if (known !== undefined) return known;
  const file = new URL('generated/api.github.com.json', import.meta.resolve('@octokit/openapi'));
  const description = JSON.parse(readFileSync(file, 'utf8')) as Description;
  allowNull(description.components);
  const ajv = new Ajv({ strict: false, validateSchema: false, validateFormats: false, logger: false });
  ajv.addSchema({ $id: 'github', ...description });
  known = { description, ajv };
  return known;
}

/** OpenAPI lets a schema without a type be null; JSON schema says so in another way. */
function allowNull(node: unknown): void {
  if (typeof node !== 'object' || node === null) return;
  const map = node as Record<string, unknown>;
  if (map.nullable === true && map.type === undefined) {
    const { nullable: _, ...rest } = map;
    for (const key of Object.keys(map)) delete map[key];
    map.anyOf = [rest, { type: 'null' }];
  }
  for (const value of Object.values(map)) allowNull(value);
}

/** The example that GitHub gives for an answer, to be changed. */
export function exampleOf(name: string): Record<string, unknown> {
  const example = load().description.components.examples[name];
  if (example === undefined) throw new Error(`GitHub's description has no example ${name}`);
  return structuredClone(example.value) as Record<string, unknown>;
}

const validators = new Map<string, ValidateFunction | null>();

function validatorAt(pointer: readonly string[]): ValidateFunction | null {
  const key = pointer.join(' ');
  const before = validators.get(key);
  if (before !== undefined) return before;
  let at: unknown = load().description;
  const trail: string[] = [];
  for (const step of pointer) {
    const map = at as Readonly<Record<string, unknown>>;
    const next = map[step];
    if (next === undefined) {
      validators.set(key, null);
      return null;
    }
    trail.push(step);
    at = next;
    const { $ref } = at as { $ref?: string };
    if ($ref?.startsWith('#/') === true) {
      trail.splice(0, trail.length, ...$ref.slice(2).split('/'));
      at = trail.reduce((inside, name) => (inside as Record<string, unknown>)[name], load().description as unknown);
    }
  }
  const place = trail.map((step) => encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/');
  const validate = load().ajv.compile({ $ref: `github#/${place}` });
  validators.set(key, validate);
  return validate;
}

/** The route of GitHub that an address is of, with its parameters; null: GitHub has none. */
export function routeOf(method: string, path: string, among: readonly string[]): RouteMatch | null {
  for (const route of among) {
    const operation = load().description.paths[route]?.[method.toLowerCase()];
    if (operation === undefined) continue;
    const pattern = new RegExp(`^${route.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
    const found = pattern.exec(path);
    if (found !== null) {
      const given = Object.entries(found.groups ?? {}).map(([name, value]) => [name, decodeURIComponent(value)]);
      return { route, parameters: Object.fromEntries(given) as Record<string, string> };
    }
  }
  return null;
}

export interface RouteMatch {
  readonly route: string;
  readonly parameters: Readonly<Record<string, string>>;
}

/** What is wrong with the body of a request by GitHub's own description; empty: nothing. */
export function wrongRequest(method: string, route: string, body: unknown): readonly string[] {
  const at = ['paths', route, method.toLowerCase(), 'requestBody', 'content', 'application/json', 'schema'];
  return problems(`${method} ${route}`, validatorAt(at), body);
}

/** The same for the parameters after the `?`. */
export function wrongQuery(method: string, route: string, query: URLSearchParams): readonly string[] {
  const { paths, components } = load().description;
  const given = paths[route]?.[method.toLowerCase()]?.parameters ?? [];
  const parameters = given.map((each) =>
    '$ref' in each ? components.parameters[each.$ref.split('/').at(-1) ?? ''] : each,
  );
  return [...query].flatMap(([name, value]) => {
    const what = `${method} ${route}?${name}`;
    const nth = parameters.findIndex((each) => each?.in === 'query' && each.name === name);
    if (nth < 0) return [`GitHub has no ${what}`];
    const at = ['paths', route, method.toLowerCase(), 'parameters', String(nth), 'schema'];
    return problems(what, validatorAt(at), /^\d+$/.test(value) ? Number(value) : value);
  });
}

/** The same for an answer; a status that GitHub does not describe for this route is wrong too. */
export function wrongAnswer(method: string, route: string, status: number, body: unknown): readonly string[] {
  if (status === 304) return [];
  const { responses } = load().description.paths[route]?.[method.toLowerCase()] ?? { responses: {} };
  // Every route may answer these.
  if ([401, 403, 404, 429, 500, 502, 503].includes(status)) return [];
  if (responses[String(status)] === undefined) return [`${method} ${route} never answers ${status}`];
  const at = [
    'paths',
    route,
    method.toLowerCase(),
    'responses',
    String(status),
    'content',
    'application/json',
    'schema',
  ];
  return problems(`${method} ${route} ${status}`, validatorAt(at), body);
}

function problems(what: string, validate: ValidateFunction | null, value: unknown): readonly string[] {
  if (validate === null || validate(value)) return [];
  return (validate.errors ?? []).slice(0, 3).map(({ instancePath, message }) => `${what}: ${instancePath} ${message}`);
}
