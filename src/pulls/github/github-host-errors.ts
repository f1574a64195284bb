import { adapterErrors } from '../../core/error-catalogue.ts';

export const githubHostErrors = adapterErrors({
  github_push_refused: {
    retryable: true,
    nextStep: 'Allow the token to push this branch: look at the rules of the repository for branches.',
  },
  change_not_pushed: {
    retryable: true,
    nextStep: 'Push the branch that the message names to GitHub, or set `review.push: true`.',
  },
});
