import type { TrackerSettings } from '../../core/settings.ts';
import { Secret } from '../../core/text/secret.ts';
import type { HttpClient } from '../../http/http.ts';
import type { RemoteParts, TrackerAdapter } from '../adapter.ts';
import { checkLinear } from './doctor/check-linear.ts';
import { linearProvider } from './linear-provider.ts';
import { createLinearTracker } from './linear-tracker.ts';
import { linearProfile } from './profile.ts';

export const linearAdapter: TrackerAdapter = {
  ...linearProfile,
  create: (settings, parts) => createLinearTracker({ ...parts, settings, http: clientFor(settings, parts) }),
  doctor: (settings, parts) => checkLinear(settings, { ...parts, http: clientFor(settings, parts) }),
  init: {
    about: null,
    questions: [
      {
        name: 'project_slug',
        value: 'slug',
        help: 'the project in Linear',
        question: 'Slug of the project (the end of its address in Linear)?',
      },
    ],
    settings: ({ project_slug = '' }) => ({
      provider: { api_key: '$LINEAR_API_KEY', project_slug },
      trusted_authors: [],
    }),
    comments: {
      trusted_authors: 'Ids or e-mail addresses of people whose issue text goes into the prompt without a fence.',
      states: 'Baton moves issues between these states. `baton doctor` checks that your teams have them.',
    },
    isShared: true,
    states: { todo: 'Todo', in_progress: 'In Progress', review: 'In Review', done: 'Done' },
  },
  docs: 'docs/trackers/linear.md',
};

function clientFor({ provider }: TrackerSettings, { remote }: RemoteParts): HttpClient {
  const { api_key: key, allow_insecure_endpoint: allowInsecure } = provider;
  // The profile has validated the key.
  return remote.client(linearProvider, key instanceof Secret ? key : null, allowInsecure === true);
}
