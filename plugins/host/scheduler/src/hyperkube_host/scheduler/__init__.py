"""The scheduler: watches nodes and pods, decides for one pod at a time, binds in the background.

Where is what, from the top down; imports go downwards only:

==================  ==========================================================================================
``command``         kube-scheduler as a command
``endpoint``        what it serves: health, metrics, configuration, explanations
``simulation``      the scheduler on a copy of a cluster in memory
``scheduler``       the server: its parts, the scheduling loop, leader election, reload of the configuration
``event_handlers``  from informers to cache and queue
``gauges``          what cache, queue and binder tell of themselves in the metrics
``podgroup``        the scheduling cycle of a pod group
``schedule_one``    the scheduling cycle of a pod: nominated pods, preemption, what becomes of a decision
``binding``         the binding cycle: reserve, permit, pre-bind, bind, post-bind
``explain``         the latest decisions, in memory and on disk
``api_dispatcher``  events and conditions, written beside the loop
``profile``         the profiles in use, by scheduler name
``config``          KubeSchedulerConfiguration, 1.x policies, and where they come from
``framework``       one profile's plugins, filtering and scoring with them, the equivalence cache
``metrics``         counters and histograms, times of extension points
``queue``           active, back-off, unschedulable and gated pods
``cache``           nodes and placed pods as arrays; assumed and nominated pods
``options``         the options as frozen records, made of the values of ``flags``
==================  ==========================================================================================
"""
