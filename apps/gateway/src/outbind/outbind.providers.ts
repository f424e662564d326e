import { OutbindBinds } from './outbind-binds.js';
import { OutbindCaller } from './outbind.caller.js';
import { OutbindDialer } from './outbind.dialer.js';
import { OutbindReceiver } from './outbind.receiver.js';
import { OutbindReporter } from './outbind.reporter.js';

/** Connections that begin with outbind, of carriers and to systems. */
export const outbindProviders = [OutbindReporter, OutbindBinds, OutbindReceiver, OutbindDialer, OutbindCaller];
