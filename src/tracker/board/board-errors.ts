import { adapterErrors } from '../../core/error-catalogue.ts';

export const boardErrors = adapterErrors({
  board_issue_invalid: { retryable: false, nextStep: 'Fix each field that the message names.' },
  board_cycle: { retryable: false, nextStep: 'First remove one of the links that the message names.' },
  board_import_invalid: {
    retryable: false,
    nextStep: 'Fix each line that the message names, then import the file again. Nothing was imported.',
  },
});
