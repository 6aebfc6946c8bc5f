"""How the house talks to the API: one `Client` protocol with two transports, informers, queues, events, election."""
