import type { AnyErrorCode } from '../../core/error-catalogue.ts';
import type { Problem, ProblemDetails } from '../../core/problem.ts';
import { isSecureEnough } from '../../core/requests/endpoint.ts';
import { Secret } from '../../core/text/secret.ts';
import type { TrackerProfile } from '../../core/tracker-profile.ts';
import { linearErrors } from './linear-errors.ts';
import { defaultToolScope, isToolScope, toolScopes } from './linear-settings.ts';

/** The `linear` kind in a workflow file. All keys may also be directly under `tracker`, as in the first versions. */
export const linearProfile: TrackerProfile = {
  kind: 'linear',
  defaultActiveStates: ['Todo', 'In Progress'],
  defaultTerminalStates: ['Closed', 'Cancelled', 'Canceled', 'Duplicate', 'Done'],
  defaultReviewStates: ['In Review'],
  makesChildren: true,
  keys: [
    {
      name: 'endpoint',
      type: 'string',
      description: 'Address of the GraphQL API: https, or http on this machine.',
      takesEffect: 'next tick',
      guard: 'guarded',
      flat: true,
      default: 'https://api.linear.app/graphql',
    },
    {
      name: 'api_key',
      type: 'string',
      description: 'Personal API key; write `$NAME` to take it from the environment. Required.',
      takesEffect: 'next tick',
      guard: 'guarded',
      secret: true,
      fallbackEnv: 'LINEAR_API_KEY',
      flat: true,
    },
    {
      name: 'project_slug',
      type: 'string',
      description: 'The slug of the project: the end of its address in Linear.',
      takesEffect: 'next tick',
      guard: 'guarded',
      defaultText: 'none; required',
      flat: true,
    },
    {
      name: 'assignee',
      type: 'string',
      description: 'Work only on issues of this user: an id, an e-mail address, or `me` for the owner of the key.',
      takesEffect: 'next tick',
      guard: 'open',
      defaultText: 'anybody',
      fallbackEnv: 'LINEAR_ASSIGNEE',
      flat: true,
    },
    {
      name: 'allow_insecure_endpoint',
      type: 'boolean',
      description: 'Allow Baton to send the key to an `http` address on another machine.',
      takesEffect: 'next tick',
      guard: 'guarded',
      flat: true,
      default: false,
    },
    {
      name: 'tool_scope',
      type: 'string',
      description:
        'What an agent can reach with the tool `linear_graphql`: `issue` lets it change only its own issue, and read and create issues in the project; `project` lets it change every issue of the project; `any` gives it everything that the key can reach.',
      takesEffect: 'next run',
      guard: 'guarded',
      flat: true,
      default: defaultToolScope,
    },
  ],
  errors: linearErrors,
  check(provider) {
    const problems: Problem[] = [];
    const refuse = (name: string, problem: string, code: AnyErrorCode, details: ProblemDetails = {}): void => {
      const key = `tracker.provider.${name}`;
      problems.push({ code, severity: 'error', key, message: `${key} ${problem}`, details });
    };
    const { endpoint, allow_insecure_endpoint: allowInsecure } = provider;
    if (!isWebAddress(endpoint)) refuse('endpoint', 'must be an http(s) address', 'invalid_tracker_config');
    else if (!isSecureEnough(endpoint, allowInsecure === true)) {
      refuse('endpoint', 'must be an https address: over http the key would be sent unencrypted', 'insecure_endpoint');
    }
    if (!(provider.api_key instanceof Secret)) {
      refuse('api_key', 'is missing or not text: Linear needs an API key', linearErrors.missing_linear_api_token.code);
    }
    if (typeof provider.project_slug !== 'string') {
      refuse(
        'project_slug',
        'is missing or not text: Linear needs a project',
        linearErrors.missing_linear_project_slug.code,
      );
    }
    if (provider.assignee !== null && typeof provider.assignee !== 'string') {
      refuse('assignee', 'must be text: a user id, an e-mail or `me`', linearErrors.invalid_linear_assignee.code);
    }
    if (!isToolScope(provider.tool_scope ?? defaultToolScope)) {
      const details = { problem: 'wrong_value', allowed: toolScopes };
      refuse('tool_scope', 'must be `issue`, `project` or `any`', 'invalid_tracker_config', details);
    }
    return problems;
  },
};

function isWebAddress(value: unknown): value is string {
  if (typeof value !== 'string') return false;
  const protocol = URL.parse(value)?.protocol;
  return protocol === 'https:' || protocol === 'http:';
}
