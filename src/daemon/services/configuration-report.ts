import type { BatonError } from '../../core/baton-error.ts';
import { Secret } from '../../core/text/secret.ts';
import { withoutSecrets } from '../../core/text/secret-text.ts';
import type { Configuration } from '../../server/api/schema/system.ts';
import type { LoadedWorkflow } from '../../workflow/load-workflow.ts';

/** What `baton validate` tells of the settings in force, and what is wrong with the file as it is now. */
export function configurationReport(
  { path, revision, described, warnings }: Pick<LoadedWorkflow, 'path' | 'revision' | 'described' | 'warnings'>,
  problem: BatonError | null,
): Configuration {
  return {
    path,
    revision,
    settings: described.map(({ key, value, origin }) => ({ key, value: shown(value), origin })),
    problem: problem === null ? null : { code: problem.code, text: problem.message },
    warnings: warnings.map(({ code, message }) => ({ code, text: message })),
  };
}

/** As JSON has it; a secret is not shown, however deep it stands, nor one that somebody wrote into a text. */
function shown(value: unknown): unknown {
  if (typeof value === 'string') return withoutSecrets(value);
  if (value instanceof Secret) return value.toJSON();
  if (Array.isArray(value)) return value.map(shown);
  if (typeof value !== 'object' || value === null) return value ?? null;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, shown(each)]));
}
