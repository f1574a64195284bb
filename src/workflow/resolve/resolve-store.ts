import { Secret } from '../../core/text/secret.ts';
import type { Surroundings } from '../workflow-context.ts';
import { errorAt, type Report, warningAt } from '../workflow-problems.ts';
import { lookUp, variableNamed } from './references.ts';

const key = 'store.url';
const fallback = 'BATON_DATABASE_URL';

interface ResolvedStoreUrl {
  readonly url: Secret | null;
  readonly origin: string;
  /** Variables that may hold it, and with it a password. */
  readonly variables: readonly string[];
}

/** `store.url`, else the variable BATON_DATABASE_URL, else none. It may hold a password, so it is a secret as a whole. */
export function resolveStoreUrl(value: string | null, surroundings: Surroundings, report: Report): ResolvedStoreUrl {
  const written = value?.trim() ?? '';
  const variable = variableNamed(written);
  const variables = variable === null ? [fallback] : [fallback, variable];
  const fromFile = variable === null ? written : (lookUp(surroundings.env, variable)?.trim() ?? '');
  if (fromFile === '') {
    if (variable !== null) {
      report(errorAt(key, `${key} names $${variable}, which is not set`, { problem: 'not_set', variable }));
    }
    const outside = lookUp(surroundings.env, fallback)?.trim() ?? '';
    const found = outside === '' ? null : new Secret(outside);
    return { url: found, origin: found === null ? 'default' : `environment $${fallback}`, variables };
  }
  if (!/^(?:sqlite|postgres|postgresql):/.test(fromFile)) {
    const message = `${key} must begin with sqlite: or postgres:`;
    report(errorAt(key, message, { problem: 'unsupported_scheme', allowed: ['sqlite', 'postgres'] }));
  }
  if (variable === null && /:\/\/[^/@]*:[^/@]*@/.test(written)) {
    const message = `${key} holds a password in plain text; write $NAME and export NAME instead`;
    report(warningAt(key, message, { code: 'literal_secret' }));
  }
  return { url: new Secret(fromFile), origin: variable === null ? 'file' : `file, via $${variable}`, variables };
}
