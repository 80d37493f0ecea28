rules riskbreaker-0.0.1
