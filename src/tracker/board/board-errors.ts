import { adapterErrors } from '../../core/error-catalogue.ts';

export const boardErrors = adapterErrors({
  board_issue_invalid: { retryable: false, nextStep: 'Mend each field named above.' },
  board_cycle: { retryable: false, nextStep: 'Take one of the links named above away first.' },
  board_import_invalid: { retryable: false, nextStep: 'Mend each line named above; nothing was imported.' },
});
