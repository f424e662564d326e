import { LinkMetrics } from '../links/link.metrics.js';
import { BindConnections } from './bind-connections.js';
import { BindDialer } from './bind-dialer.js';
import { BindSupervisorFactory } from './bind-supervisor.factory.js';
import { BindsService } from './binds.service.js';

/** Connections that the gateway opens to carriers. */
export const bindsProviders = [LinkMetrics, BindDialer, BindSupervisorFactory, BindConnections, BindsService];
