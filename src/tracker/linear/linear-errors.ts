import { adapterErrors } from '../../core/error-catalogue.ts';

export const linearErrors = adapterErrors({
  missing_linear_api_token: {
    retryable: false,
    nextStep: 'Export LINEAR_API_KEY, or set `tracker.provider.api_key` to another variable.',
  },
  missing_linear_project_slug: {
    retryable: false,
    nextStep: 'Set `tracker.provider.project_slug` to the slug of the project: the end of its address in Linear.',
  },
  invalid_linear_assignee: {
    retryable: false,
    nextStep: 'Set `tracker.provider.assignee` to a user id, an e-mail or `me`.',
  },
});
