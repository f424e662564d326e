import type { Outcomes } from '../support/outcomes.js';
import type { Installation } from './system.js';

const OK = 0;

/** The installation, with a record of the answers to calls and to MOs. */
export function observed(
  { api, links: [first, second], ...rest }: Installation,
  { calls, messages }: { readonly calls: Outcomes; readonly messages: Outcomes },
): Installation {
  const recorded = (link: typeof first): typeof first => ({
    send: (sms) =>
      messages.record(
        () => link.send(sms),
        (status) => ({ isOk: status === OK, answer: String(status) }),
      ),
  });
  return {
    ...rest,
    api: {
      call: (path, call) =>
        calls.record(
          () => api.call(path, call),
          (answer) => ({ isOk: answer !== null && answer.status < 500, answer: String(answer?.status ?? null) }),
        ),
    },
    links: [recorded(first), recorded(second)],
  };
}
