import { adapterErrors } from '../core/error-catalogue.ts';

export const githubErrors = adapterErrors({
  github_login_missing: {
    retryable: false,
    nextStep:
      'Export GITHUB_TOKEN, or GITHUB_TOKEN_FILE with the path of a file that has the token, where you start Baton; or log in with `gh auth login`.',
  },
  github_unreachable: {
    retryable: true,
    nextStep: 'Wait: Baton tries again. If the error stays, check the network, the proxy and `review.api_url`.',
  },
  github_rate_limited: {
    retryable: true,
    nextStep: 'Wait: Baton tries again when GitHub allows it. `baton requests` shows what used the requests.',
  },
  github_auth: {
    retryable: false,
    nextStep: 'Make a new token on GitHub, give it to Baton, then run `baton doctor`.',
  },
  github_sso: {
    retryable: false,
    nextStep: 'Authorise the token for the organisation at the address that the message names.',
  },
  github_forbidden: {
    retryable: false,
    nextStep: 'Give the token the permissions that the message names (docs/pull-requests.md), then run `baton doctor`.',
  },
  github_not_found: {
    retryable: false,
    nextStep: 'Check `review.repository`, and that the token has access to this repository.',
  },
  github_moved: {
    retryable: false,
    nextStep: 'Set `review.repository` to the new name of the repository.',
  },
  github_refused: { retryable: false, nextStep: 'Read the reason that GitHub gives in the message.' },
  github_status: {
    retryable: true,
    nextStep: 'Wait: Baton tries again. If the error stays, look at the status of GitHub.',
  },
  github_response: {
    retryable: true,
    nextStep:
      'Wait: Baton tries again. If the error stays, use a newer Baton: this version cannot read the answers of GitHub.',
  },
});
