import { coverWholeSpace } from './whole-space.js';

/** Settings with which an operator can switch protections off. */
interface PermissiveSettings {
  readonly adminAllowedCidrs: readonly string[];
  readonly webhookAllowedCidrs: readonly string[];
  readonly webhookAllowHttp: boolean;
}

const ADMIN_FROM_ANYWHERE =
  'ADMIN_ALLOWED_CIDRS holds every address, so admin keys are accepted from anywhere: list the addresses of engineers ' +
  'alone, or leave it empty if that is meant';
const WEBHOOKS_TO_ANYWHERE =
  'WEBHOOK_ALLOWED_CIDRS holds every address, so webhooks are sent into private networks and to this machine too: list ' +
  'the ranges of receivers that are private on purpose';
const WEBHOOKS_WITHOUT_TLS =
  'WEBHOOK_ALLOW_HTTP=true sends webhooks with phones and metadata over plain http to URLs that ask for it: set it to ' +
  'false, and let receivers use https';

/** Warnings of settings that open what is closed by default, in production. */
export function permissiveWarnings({
  adminAllowedCidrs,
  webhookAllowedCidrs,
  webhookAllowHttp,
}: PermissiveSettings): string[] {
  return [
    ...(coverWholeSpace(adminAllowedCidrs) ? [ADMIN_FROM_ANYWHERE] : []),
    ...(coverWholeSpace(webhookAllowedCidrs) ? [WEBHOOKS_TO_ANYWHERE] : []),
    ...(webhookAllowHttp ? [WEBHOOKS_WITHOUT_TLS] : []),
  ];
}
