export { pcapOf, type CapturedPdu, type Conversation, type Endpoint } from './pcap.js';
export { redactOctets } from './redact-octets.js';
export { redactPdu } from './redact.js';
