import { adapterErrors } from '../../core/error-catalogue.ts';

export const linearErrors = adapterErrors({
  missing_linear_api_token: {
    retryable: false,
    nextStep: 'Export LINEAR_API_KEY, or name another variable in `tracker.provider.api_key`.',
  },
  missing_linear_project_slug: {
    retryable: false,
    nextStep: "Set `tracker.provider.project_slug` to the project's slug (the end of its address).",
  },
  invalid_linear_assignee: {
    retryable: false,
    nextStep: 'Set `tracker.provider.assignee` to a user id, an e-mail or `me`.',
  },
});
